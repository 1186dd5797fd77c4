import { AssertionError } from 'node:assert';
import type { StagedItem } from '../action/action-plan.js';
import { Entity } from '../domain/entity.js';
import type { ModelClass } from '../domain/id.js';
import type { ModelEvent } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { type CallSite, callSite, checkFrom } from './call-site.js';
import { type Ending, type ErrorClass, failureOf } from './expected-failure.js';
import type { Performed } from './perform-once.js';
import { assertShowsSame, show, showFields, showItem, showSchedule } from './show.js';

/** Some fields of a model with the values that they should have. */
export type FieldsOf<M> = {
  readonly [Name in keyof M & string as M[Name] extends (...args: never[]) => unknown ? never : Name]?:
    | M[Name]
    | undefined;
};

/** What a result should be: of a model some fields, of anything else the whole value. */
export type ExpectedResult<Result> = Result extends Entity ? FieldsOf<Result> : Result;

/** An action that is to be run later. */
export interface ScheduledLater {
  readonly at: Date;
  /** Its class. */
  readonly action: { readonly name: string };
  readonly params: object;
}

/** What one check sees: the whole, and the staged items that no check before it has claimed. */
interface Sight<Result> extends Performed<Result> {
  readonly unclaimed: StagedItem[];
}

interface Check<Result> {
  readonly claims: boolean;
  readonly run: (sight: Sight<Result>) => void;
  readonly site: CallSite;
}

/**
 * What became of the action, and what it should have become. Await it, or return it from a test: the checks run then,
 * in the order written, and the first that does not hold throws an `AssertionError`. `performed()` also gives what
 * was performed, for checks of your own. If the action failed and no check expects that, its own error is thrown.
 *
 * Checks of staged models (`thenAdded`, `thenUpdated`, `thenExpected`) go through the plan in staging order, one
 * model each; with one such check present, a model that none of them names is a failure.
 */
export class ActionOutcome<Result> implements Promise<void> {
  readonly [Symbol.toStringTag] = 'ActionOutcome';
  readonly #ending: Promise<Ending<Result>>;
  readonly #checks: readonly Check<Result>[];

  private constructor(ending: Promise<Ending<Result>>, checks: readonly Check<Result>[]) {
    this.#ending = ending;
    this.#checks = checks;
  }

  /** @internal made by `ActionSpec.when` */
  static of<Result>(performed: Promise<Performed<Result>>): ActionOutcome<Result> {
    const ending = performed.then(
      (value): Ending<Result> => ({ kind: 'performed', performed: value }),
      (error: unknown): Ending<Result> => ({ kind: 'failed', error }),
    );
    return new ActionOutcome(ending, []);
  }

  /** The next staged item adds a model of this class with these fields. */
  thenAdded<M extends Entity>(modelClass: ModelClass<M>, fields: FieldsOf<M> = {}): ActionOutcome<Result> {
    return this.#claim('add', modelClass, fields);
  }

  /** The next staged item updates a model of this class to these fields. */
  thenUpdated<M extends Entity>(modelClass: ModelClass<M>, fields: FieldsOf<M> = {}): ActionOutcome<Result> {
    return this.#claim('update', modelClass, fields);
  }

  /** The next staged item expects a model of this class to stay as it is. */
  thenExpected<M extends Entity>(modelClass: ModelClass<M>, fields: FieldsOf<M> = {}): ActionOutcome<Result> {
    return this.#claim('expect', modelClass, fields);
  }

  /** Nothing is staged, scheduled or taken back. */
  thenNothing(): ActionOutcome<Result> {
    return this.#check(false, ({ items, schedules, cancelledSchedules }) => {
      const later = [...schedules.map(showSchedule), ...cancelledSchedules.map((id) => `cancel ${id}`)];
      assertShowsSame([...items.map(showItem), ...later], [], 'Expected the action to stage nothing');
    });
  }

  /** Exactly these actions are to be run later, in this order. */
  thenSchedules(...expected: readonly ScheduledLater[]): ActionOutcome<Result> {
    return this.#check(false, ({ schedules }) => {
      const wanted = expected.map(({ at, action, params }) => ({
        at,
        action: action.name,
        params: show(params),
      }));
      const found = schedules.map(({ dueDate, actionClass, params }) => ({
        at: dueDate,
        action: actionClass.name,
        params: show(params),
      }));
      assertShowsSame(found, wanted, 'Expected the action to schedule other actions');
    });
  }

  /** Exactly these scheduled actions are taken back, in this order. */
  thenCancels(...ids: readonly string[]): ActionOutcome<Result> {
    return this.#check(false, ({ cancelledSchedules }) => {
      assertShowsSame(cancelledSchedules, ids, 'Expected the action to take back other scheduled actions');
    });
  }

  /** Exactly these events go to the outbox, in this order. A function gets the result, for ids made by the action. */
  thenEvents(
    ...expected:
      | readonly ModelEvent<unknown>[]
      | readonly [(result: Result) => readonly ModelEvent<unknown>[]]
  ): ActionOutcome<Result> {
    return this.#check(false, ({ events, result }) => {
      const wanted = expected.flatMap((event) => (typeof event === 'function' ? event(result) : [event]));
      assertShowsSame(show(events), show(wanted), 'Expected the action to emit other events');
    });
  }

  /** The plan touches exactly these shards, in staging order. */
  thenTouches(...shards: readonly ShardIdentifier[]): ActionOutcome<Result> {
    return this.#check(false, (performed) => {
      assertShowsSame(
        performed.shards.map(String),
        shards.map(String),
        'Expected the plan to touch other shards',
      );
    });
  }

  /** The action returns this: a model with these fields, or exactly this value. */
  thenReturns(expected: ExpectedResult<Result>): ActionOutcome<Result> {
    return this.#check(false, ({ result }) => {
      const isModel = result instanceof Entity && typeof expected === 'object' && expected !== null;
      if (isModel) assertFields(result, expected, 'Expected the action to return other fields');
      else assertShowsSame(show(result), show(expected), 'Expected the action to return another value');
    });
  }

  /**
   * The action fails, by itself or because the executor would refuse its plan, and so nothing is written.
   *
   * @param message the whole text, or a pattern that it matches
   * @param inspect gets the error, for checks of its other fields
   */
  async thenFails<E extends Error>(
    errorClass: ErrorClass<E>,
    message?: string | RegExp,
    inspect?: (error: E) => void,
  ): Promise<void> {
    const site = callSite();
    const ending = await this.#ending;
    const error = checkFrom(site, () => {
      if (this.#checks.length > 0) {
        throw new AssertionError({
          message: 'An action that fails stages nothing: thenFails stands alone after when',
        });
      }
      return failureOf(ending, errorClass, message);
    });
    inspect?.(error);
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

  /** Runs the checks and gives the result, the staged items, the events and the shards of the action. */
  async performed(): Promise<Performed<Result>> {
    const ending = await this.#ending;
    if (ending.kind === 'failed') throw ending.error;
    const { performed } = ending;
    const unclaimed = [...performed.items];
    for (const { run, site } of this.#checks) checkFrom(site, () => run({ ...performed, unclaimed }));
    const lastClaim = this.#checks.findLast(({ claims }) => claims);
    if (lastClaim !== undefined) checkFrom(lastClaim.site, () => assertAllClaimed(unclaimed));
    return performed;
  }

  #claim<M extends Entity>(
    kind: StagedItem['kind'],
    modelClass: ModelClass<M>,
    fields: FieldsOf<M>,
  ): ActionOutcome<Result> {
    return this.#check(true, ({ unclaimed }) => {
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
    });
  }

  #check(claims: boolean, run: Check<Result>['run']): ActionOutcome<Result> {
    return new ActionOutcome(this.#ending, [...this.#checks, { claims, run, site: callSite() }]);
  }
}

function assertFields(model: object, expected: object, headline: string): void {
  const fields = model as Readonly<Record<string, unknown>>;
  const asked = Object.fromEntries(Object.keys(expected).map((name) => [name, fields[name]]));
  assertShowsSame(showFields(asked), showFields(expected), headline);
}

function assertAllClaimed(unclaimed: readonly StagedItem[]): void {
  assertShowsSame(unclaimed.map(showItem), [], 'Expected the plan to hold nothing else');
}
