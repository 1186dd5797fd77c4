import { AssertionError } from 'node:assert';
import type { ActionClass } from '../action/action.js';
import type { StagedItem } from '../action/action-plan.js';
import type { Entity } from '../domain/entity.js';
import type { ModelClass } from '../domain/id.js';
import type { ModelEvent } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { CheckedOutcome } from './checked-outcome.js';
import type { Performed } from './performed.js';
import { assertFields, assertShowsSame, show, showItem } from './show.js';

/** Some fields of a model with their expected values. */
export type FieldsOf<M> = {
  readonly [Name in keyof M & string as M[Name] extends (...args: never[]) => unknown ? never : Name]?:
    | M[Name]
    | undefined;
};

/** An expected scheduled action, with the params of its class. */
export interface ScheduledLater<Params extends object = object> {
  readonly at: Date;
  readonly action: ActionClass<Params, unknown>;
  readonly params: NoInfer<Params>;
}

/** Several scheduled actions, each with its own params. */
export type ScheduledActions<Params extends readonly object[]> = {
  readonly [Index in keyof Params]: ScheduledLater<Params[Index]>;
};

/** A value, or a function that returns it from the result. */
export type OfResult<Result, Value> = Value | readonly [(result: Result) => Value];

/**
 * Checks of staged models. `thenAdded`, `thenUpdated` and `thenExpected` check the plan in staging order, one model
 * each. If there is one such check, every staged model needs one.
 */
export abstract class StagedOutcome<Result, Value extends Performed<Result>> extends CheckedOutcome<Value> {
  /** The next staged item adds a model of this class with these fields. */
  thenAdded<M extends Entity>(modelClass: ModelClass<M>, fields: FieldsOf<M> = {}): this {
    return this.check(claim('add', modelClass, fields), true);
  }

  /** The next staged item updates a model of this class to these fields. */
  thenUpdated<M extends Entity>(modelClass: ModelClass<M>, fields: FieldsOf<M> = {}): this {
    return this.check(claim('update', modelClass, fields), true);
  }

  /** The next staged item expects a model of this class to stay as it is. */
  thenExpected<M extends Entity>(modelClass: ModelClass<M>, fields: FieldsOf<M> = {}): this {
    return this.check(claim('expect', modelClass, fields), true);
  }

  /**
   * The plan schedules exactly these actions, in this order. A function receives the result, for ids and times that
   * depend on it.
   */
  thenSchedules<Params extends readonly object[]>(
    expected: (result: Result) => readonly [...ScheduledActions<Params>],
  ): this;
  thenSchedules<Params extends readonly object[]>(...expected: ScheduledActions<Params>): this;
  thenSchedules(...expected: OfResult<Result, readonly SomeSchedule[]>): this {
    return this.check(({ schedules, result }) => {
      const found = schedules.map(({ dueDate: at, actionClass, params }) => {
        return { at, action: actionClass.name, params };
      });
      const wanted = expectedOf(expected, result).map(({ at, action, params }) => {
        return { at, action: action.name, params };
      });
      assertShowsSame(show(found), show(wanted), `Expected ${this.subject} to schedule other actions`);
    });
  }

  /** The plan cancels exactly these scheduled actions, in this order. A function receives the result. */
  thenCancels(...ids: OfResult<Result, readonly string[]>): this {
    return this.check(({ cancelledSchedules, result }) => {
      const message = `Expected ${this.subject} to cancel other scheduled actions`;
      assertShowsSame(cancelledSchedules, expectedOf(ids, result), message);
    });
  }

  /** The plan writes exactly these events to the outbox, in this order. A function receives the result, for new ids. */
  thenEvents(...expected: OfResult<Result, readonly ModelEvent<unknown>[]>): this {
    return this.check(({ events, result }) => {
      const wanted = expectedOf(expected, result);
      assertShowsSame(show(events), show(wanted), `Expected ${this.subject} to emit other events`);
    });
  }

  /** The plan touches exactly these shards, in staging order. */
  thenTouches(...shards: readonly ShardIdentifier[]): this {
    return this.check((performed) => {
      const message = 'Expected the plan to touch other shards';
      assertShowsSame(performed.shards.map(String), shards.map(String), message);
    });
  }
}

/** An expected scheduled action whose params were checked against its class. */
interface SomeSchedule {
  readonly at: Date;
  readonly action: { readonly name: string };
  readonly params: object;
}

function expectedOf<Result, Value extends readonly object[] | readonly string[]>(
  expected: OfResult<Result, Value>,
  result: Result,
): Value {
  const [first] = expected;
  // Events, ids and schedules are never functions.
  return typeof first === 'function' ? first(result) : (expected as Value);
}

function claim<M extends Entity>(
  kind: StagedItem['kind'],
  modelClass: ModelClass<M>,
  fields: FieldsOf<M>,
): (value: unknown, unclaimed: StagedItem[]) => void {
  return (_, unclaimed) => {
    const item = unclaimed.shift();
    if (item?.kind !== kind || item.descriptor.modelClass() !== modelClass) {
      const actual = item === undefined ? 'nothing more' : showItem(item);
      const expected = `${kind} ${modelClass.name}`;
      throw new AssertionError({
        message: `Expected the plan to ${expected} next, but there is: ${actual}`,
        actual,
        expected,
      });
    }
    assertFields(item.model, fields, `Expected the plan to ${kind} ${modelClass.name} with other fields`);
  };
}
