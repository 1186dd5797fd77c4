import { AssertionError } from 'node:assert';
import type { ActionClass } from '../action/action.js';
import type { StagedItem } from '../action/action-plan.js';
import type { Entity } from '../domain/entity.js';
import type { ModelClass } from '../domain/id.js';
import type { ModelEvent } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { type CallSite, callSite, checkFrom } from './call-site.js';
import { failureOf } from './expected-failure.js';
import type { Performed } from './performed.js';
import { assertFields, assertShowsSame, show, showItem } from './show.js';

/** Some fields of a model with their expected values. */
export type FieldsOf<M> = {
  readonly [Name in keyof M & string as M[Name] extends (...args: never[]) => unknown ? never : Name]?:
    | M[Name]
    | undefined;
};

/** An expected scheduled action, with the params of its class. */
interface ScheduledLater<Params extends object = object> {
  readonly at: Date;
  readonly action: ActionClass<Params, unknown>;
  readonly params: NoInfer<Params>;
  /** The part of the system that executes it. Default: the principal of the plan. */
  readonly principal?: string | undefined;
}

/** A value, or a function that returns it from the result. */
type OfResult<Result, Value> = Value | readonly [(result: Result) => Value];

/** One check, its position, and whether it claims staged models. */
interface Check<Value> {
  readonly claims: boolean;
  readonly run: (value: Value, unclaimed: StagedItem[]) => void;
  readonly site: CallSite;
}

/**
 * The outcome of a run and the checks on it. Await it, or return it from a test: the checks then run in the order
 * written, and the first that fails throws an `AssertionError`. `performed()` also returns the outcome, for custom
 * checks. If the run failed and no check expects a failure, the run's error is thrown.
 *
 * `thenAdded`, `thenUpdated` and `thenExpected` check the plan in staging order, one model each. If there is one such
 * check, every staged model needs one.
 */
export abstract class SpecOutcome<Result, Value extends Performed<Result>> implements Promise<void> {
  /** Such as `ActionOutcome`, from which messages take their subject. */
  abstract readonly [Symbol.toStringTag]: string;
  readonly #run: Promise<Value>;
  readonly #checks: readonly Check<Value>[];

  /** @internal created by the `when` of a specification */
  constructor(run: Promise<Value>, checks: readonly Check<Value>[] = []) {
    this.#run = run;
    this.#checks = checks;
    // Reported when it is awaited.
    run.catch(() => {});
  }

  // biome-ignore lint/suspicious/noThenProperty: a chain of checks is a promise, which test runners await.
  then<Fulfilled = void, Rejected = never>(
    onFulfilled?: ((nothing: void) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((error: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    const settled: Promise<void> = this.performed().then(() => {});
    return settled.then(onFulfilled, onRejected);
  }

  catch<Rejected = never>(
    onRejected?: ((error: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<void | Rejected> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<void> {
    return this.then().finally(onFinally);
  }

  /** Runs the checks and returns what was performed. */
  async performed(): Promise<Value> {
    const performed = await this.#run;
    const unclaimed = [...performed.items];
    for (const { run, site } of this.#checks) checkFrom(site, () => run(performed, unclaimed));
    const lastClaim = this.#checks.findLast(({ claims }) => claims);
    const requireAll = () =>
      assertShowsSame(unclaimed.map(showItem), [], 'Expected the plan to hold nothing else');
    if (lastClaim !== undefined) checkFrom(lastClaim.site, requireAll);
    return performed;
  }

  /**
   * The run fails and writes nothing: it throws, or the executor refuses its plan.
   *
   * @param message the whole text, or a pattern that it matches
   * @param inspect receives the error, for checks of its other fields
   */
  async thenFails<E extends Error>(
    errorClass: abstract new (...args: never[]) => E,
    message?: string | RegExp,
    inspect?: (error: E) => void,
  ): Promise<void> {
    const site = callSite();
    const ending = await this.#run.then(
      ({ items }) => ({ items }),
      (error: unknown) => ({ error }),
    );
    const error = checkFrom(site, () => {
      if (this.#checks.length > 0) {
        throw new AssertionError({
          message:
            'A failed action stages nothing. Call thenFails directly after when, without other checks.',
        });
      }
      return failureOf(ending, { subject: subjectOf(this), errorClass, message });
    });
    inspect?.(error);
  }

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
    expected: (
      result: Result,
    ) => readonly [...{ readonly [Index in keyof Params]: ScheduledLater<Params[Index]> }],
  ): this;
  thenSchedules<Params extends readonly object[]>(
    ...expected: { readonly [Index in keyof Params]: ScheduledLater<Params[Index]> }
  ): this;
  thenSchedules(...expected: OfResult<Result, readonly SomeSchedule[]>): this {
    return this.check(({ schedules, result }) => {
      const found = schedules.map(({ dueDate: at, actionClass, params, principal }) => {
        return { at, action: actionClass.name, params, principal };
      });
      const wanted = expectedOf(expected, result).map(({ at, action, params, principal }) => {
        return { at, action: action.name, params, principal };
      });
      assertShowsSame(show(found), show(wanted), `Expected ${subjectOf(this)} to schedule other actions`);
    });
  }

  /** The plan cancels exactly these scheduled actions, in this order. A function receives the result. */
  thenCancels(...ids: OfResult<Result, readonly string[]>): this {
    return this.check(({ cancelledSchedules, result }) => {
      const message = `Expected ${subjectOf(this)} to cancel other scheduled actions`;
      assertShowsSame(cancelledSchedules, expectedOf(ids, result), message);
    });
  }

  /** The plan writes exactly these events to the outbox, in this order. A function receives the result, for new ids. */
  thenEvents(...expected: OfResult<Result, readonly ModelEvent<unknown>[]>): this {
    return this.check(({ events, result }) => {
      const wanted = expectedOf(expected, result);
      assertShowsSame(show(events), show(wanted), `Expected ${subjectOf(this)} to emit other events`);
    });
  }

  /** The plan touches exactly these shards, in staging order. */
  thenTouches(...shards: readonly ShardIdentifier[]): this {
    return this.check((performed) => {
      const message = 'Expected the plan to touch other shards';
      assertShowsSame(performed.shards.map(String), shards.map(String), message);
    });
  }

  /** Afterwards this model is stored with these fields. */
  thenStored<M extends Entity>(model: M, fields: FieldsOf<M>): this {
    return this.check(({ stored }) => {
      const found = stored(model);
      const name = `${model.constructor.name} ${model.id.getValue()}`;
      if (found === undefined) assertShowsSame('nothing', name, `Expected ${name} to be stored`);
      else assertFields(found, fields, `Expected ${name} to be stored with other fields`);
    });
  }

  /** @internal The same outcome with another check. Its failure points to the caller of the method that calls this one. */
  protected check(run: Check<Value>['run'], claims = false): this {
    const check = { claims, run, site: callSite() };
    // The subclasses have no constructors of their own.
    const Outcome = this.constructor as new (run: Promise<Value>, checks: readonly Check<Value>[]) => this;
    return new Outcome(this.#run, [...this.#checks, check]);
  }
}

/** `the action` */
function subjectOf({ [Symbol.toStringTag]: name }: Promise<void>): string {
  return `the ${name.replace('Outcome', '').toLowerCase()}`;
}

/** An expected scheduled action whose params were checked against its class. */
interface SomeSchedule {
  readonly at: Date;
  readonly action: { readonly name: string };
  readonly params: object;
  readonly principal?: string | undefined;
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
