import { AssertionError } from 'node:assert';
import type { StagedItem } from '../action/action-plan.js';
import { type CallSite, callSite, checkFrom } from './call-site.js';
import { type Ending, type ErrorClass, failureOf } from './expected-failure.js';
import { assertShowsSame, showItem } from './show.js';

/** Something that stages models. */
export interface Staging {
  /** What is staged, in staging order. */
  readonly items: readonly StagedItem[];
}

/** @internal One check, its position, and whether it claims staged models. */
export interface Check<Value> {
  readonly claims: boolean;
  readonly run: (value: Value, unclaimed: StagedItem[]) => void;
  readonly site: CallSite;
}

/** @internal The parts of an outcome. */
export interface OutcomeParts<Value> {
  readonly ending: Promise<Ending<Value>>;
  readonly checks: readonly Check<Value>[];
}

/** @internal The parts of an outcome without checks. */
export function unchecked<Value>(performed: Promise<Value>): OutcomeParts<Value> {
  const ending = performed.then(
    (value): Ending<Value> => ({ kind: 'performed', performed: value }),
    (error: unknown): Ending<Value> => ({ kind: 'failed', error }),
  );
  return { ending, checks: [] };
}

/**
 * The outcome of a run and the checks on it. Await it, or return it from a test: the checks then run in the order
 * written, and the first that fails throws an `AssertionError`. `performed()` also returns the outcome, for custom
 * checks. If the run failed and no check expects a failure, the run's error is thrown.
 */
export abstract class CheckedOutcome<Value extends Staging> implements Promise<void> {
  readonly [Symbol.toStringTag]: string = 'CheckedOutcome';
  readonly #ending: Promise<Ending<Value>>;
  readonly #checks: readonly Check<Value>[];

  /** @internal */
  protected constructor({ ending, checks }: OutcomeParts<Value>) {
    this.#ending = ending;
    this.#checks = checks;
  }

  /** Subject of messages: `the action`. */
  protected abstract readonly subject: string;

  /** @internal The same with these checks. */
  protected abstract with(parts: OutcomeParts<Value>): this;

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
    const ending = await this.#ending;
    if (ending.kind === 'failed') throw ending.error;
    const { performed } = ending;
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
    errorClass: ErrorClass<E>,
    message?: string | RegExp,
    inspect?: (error: E) => void,
  ): Promise<void> {
    const site = callSite();
    const ending = await this.#ending;
    const { subject } = this;
    const error = checkFrom(site, () => {
      if (this.#checks.length > 0) {
        throw new AssertionError({
          message:
            'A failed action stages nothing. Call thenFails directly after when, without other checks.',
        });
      }
      return failureOf(ending, { subject, errorClass, message });
    });
    inspect?.(error);
  }

  /** @internal Adds a check. Its failure points to the caller of the method that calls this one. */
  protected check(run: Check<Value>['run'], claims = false): this {
    const check = { claims, run, site: callSite() };
    return this.with({ ending: this.#ending, checks: [...this.#checks, check] });
  }
}
