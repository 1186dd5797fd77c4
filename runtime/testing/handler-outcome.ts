import type { ActionClass } from '../action/action.js';
import type { Entity } from '../domain/entity.js';
import { type OutcomeParts, unchecked } from './checked-outcome.js';
import type { Performed } from './perform-once.js';
import type { CallOf, RecordedCall } from './recorded-calls.js';
import { assertFields, assertShowsSame, show } from './show.js';
import { type FieldsOf, StagedOutcome } from './staged-outcome.js';

/** An action with the params that it was run with. */
export interface StartedAction<Params = unknown> {
  readonly action: ActionClass<Params, unknown>;
  readonly params: NoInfer<Params>;
}

/** Several of them, each with params of its own. */
export type StartedActions<Params extends readonly unknown[]> = {
  readonly [Index in keyof Params]: StartedAction<Params[Index]>;
};

/**
 * What a handler has done with the events that it was given. Staged items, events and schedules are those of all
 * actions.
 */
export interface Handled extends Performed<void> {
  /** The actions that it asked for, in order; a repeated call, which gets the first result, is among them. */
  readonly runs: readonly { readonly action: { readonly name: string }; readonly params: unknown }[];
  /** @internal */
  readonly calls: readonly RecordedCall[];
  /** What is stored of a model afterwards. */
  stored<M extends Entity>(model: M): M | undefined;
}

/** The outcome of a delivery, and its checks: see `CheckedOutcome` for how checks are run. */
export class HandlerOutcome extends StagedOutcome<void, Handled> {
  override readonly [Symbol.toStringTag]: string = 'HandlerOutcome';
  protected readonly subject: string = 'the handler';

  private constructor(parts: OutcomeParts<Handled>) {
    super(parts);
  }

  /** @internal made by `HandlerSpec.when` */
  static of(handled: Promise<Handled>): HandlerOutcome {
    return new HandlerOutcome(unchecked(handled));
  }

  /** Exactly these actions are run by `envelope.execute`, in this order. */
  thenRuns<Params extends readonly unknown[]>(...expected: StartedActions<Params>): this {
    // A mapped tuple is an array of what it maps to, which the compiler does not see for a tuple of any length.
    const wanted = expected as readonly StartedAction<never>[];
    return this.check(({ runs }) => {
      const found = runs.map(({ action, params }) => ({ action: action.name, params: show(params) }));
      assertShowsSame(
        found,
        wanted.map(({ action, params }) => ({ action: action.name, params: show(params) })),
        'Expected the handler to run other actions',
      );
    });
  }

  /** Exactly these calls are made to a collaborator that `recordedCalls` has made, in this order. */
  thenCalls<T extends object>(collaborator: T, ...expected: readonly CallOf<T>[]): this {
    return this.check(({ calls }) => {
      const found = calls.filter(({ target }) => target === collaborator).map(({ call }) => call);
      assertShowsSame(show(found), show(expected), 'Expected the handler to make other calls');
    });
  }

  /** Afterwards this model is stored with these fields. */
  thenStored<M extends Entity>(model: M, fields: FieldsOf<M>): this {
    return this.check(({ stored }) => assertStored(stored(model), model, fields));
  }

  /** It runs no action and makes no recorded call. */
  thenNothing(): this {
    return this.check(({ runs, calls }) => {
      const found = [
        ...runs.map(({ action }) => `run ${action.name}`),
        ...calls.map(({ call: [name] }) => `call ${String(name)}`),
      ];
      assertShowsSame(found, [], 'Expected the handler to do nothing');
    });
  }

  /** @internal */
  protected override with(parts: OutcomeParts<Handled>): this {
    // The class is final: its constructor is private.
    return new HandlerOutcome(parts) as this;
  }
}

/** @internal @throws AssertionError unless the model is stored with these fields */
export function assertStored(stored: Entity | undefined, model: Entity, fields: object): void {
  const name = `${model.constructor.name} ${model.id.getValue()}`;
  if (stored === undefined) assertShowsSame('nothing', name, `Expected ${name} to be stored`);
  else assertFields(stored, fields, `Expected ${name} to be stored with other fields`);
}
