import type { ActionClass } from '../action/action.js';
import { matchedCall } from './matchers.js';
import type { Performed } from './performed.js';
import type { CallOf, RecordedCall } from './recorded-calls.js';
import { assertShowsSame, show } from './show.js';
import { SpecOutcome } from './spec-outcome.js';

/** An action and its params. */
interface StartedAction<Params = unknown> {
  readonly action: ActionClass<Params, unknown>;
  readonly params: NoInfer<Params>;
}

/** The effects of a handler's deliveries. Staged items, events and schedules are those of all its actions. */
export interface Handled extends Performed<void> {
  /** The actions that it ran, in order, including repeated calls, which return the first result. */
  readonly runs: readonly { readonly action: { readonly name: string }; readonly params: unknown }[];
  /** @internal */
  readonly calls: readonly RecordedCall[];
}

/** The outcome of deliveries, with its checks; see `SpecOutcome`. */
export class HandlerOutcome extends SpecOutcome<void, Handled> {
  readonly [Symbol.toStringTag]: string = 'HandlerOutcome';

  /** The handler runs exactly these actions with `envelope.execute`, in this order. */
  thenRuns<Params extends readonly unknown[]>(
    ...expected: { readonly [Index in keyof Params]: StartedAction<Params[Index]> }
  ): this {
    // The compiler does not see that a mapped tuple of any length is an array of the mapped type.
    const wanted = expected as readonly StartedAction<never>[];
    return this.check(({ runs }) => {
      const shown = ({ action, params }: Handled['runs'][number]): object => {
        return { action: action.name, params: show(params) };
      };
      assertShowsSame(runs.map(shown), wanted.map(shown), 'Expected the handler to run other actions');
    });
  }

  /**
   * The handler makes exactly these calls of a collaborator that `recordedCalls` has created, in this order. In place of
   * an argument, a predicate or an asymmetric matcher accepts it.
   */
  thenCalls<T extends object>(collaborator: T, ...expected: readonly CallOf<T>[]): this {
    return this.check(({ calls }) => {
      const found = calls.filter(({ target }) => target === collaborator).map(({ call }) => call);
      const wanted = expected.map((call, index) => matchedCall(call, found[index]));
      assertShowsSame(show(found), show(wanted), 'Expected the handler to make other calls');
    });
  }

  /** The handler runs no action and makes no recorded call. */
  thenNothing(): this {
    return this.check(({ runs, calls }) => {
      const found = [
        ...runs.map(({ action }) => `run ${action.name}`),
        ...calls.map(({ call: [name] }) => `call ${String(name)}`),
      ];
      assertShowsSame(found, [], 'Expected the handler to do nothing');
    });
  }
}
