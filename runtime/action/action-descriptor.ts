import type { FieldDescriptor, FieldType, Upcaster } from '../domain/descriptor.js';
import type { Action, ActionClass } from './action.js';

/** What the runtime must know about an action class; emitted by the generator. */
export interface ActionDescriptor<Params = never, Result = unknown> {
  /** Stable name in `eventlog.actions` and in keys. */
  readonly name: string;
  readonly actionClass: ActionClass<Params, Result>;
  readonly params: readonly FieldDescriptor[];
  /** Version of the shape of its params, as they are stored to be run later. Default 1. */
  readonly version?: number;
  /**
   * Turns stored params of older versions into those of the next: the first one turns version 1 into version 2.
   * Default: the class's static `upcasters`, if it has any.
   */
  readonly upcasters?: readonly Upcaster[];
  /** How a result is kept for a repeated key: absent for an action without a result. */
  readonly result?: ResultType;
  /** Constructor wiring: a new instance for one attempt. */
  readonly create: () => Action<Params, Result>;
}

/** What an action returns, as far as the generator knows. */
export type ResultType =
  | { readonly kind: 'void' }
  /** One model, kept as its row. */
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'field'; readonly type: FieldType; readonly optional?: true; readonly nullable?: true }
  /** Anything else: such an action cannot be run under an idempotency key. */
  | { readonly kind: 'opaque' };
