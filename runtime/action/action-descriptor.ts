import type { FieldDescriptor, FieldType, Upcaster } from '../domain/descriptor.js';
import type { Action, ActionClass } from './action.js';
import type { FwScheduleOptions } from './markers.js';

/** An action class as the runtime uses it; emitted by the generator. */
export interface ActionDescriptor<Params = never, Result = unknown> {
  /** Stable name in `eventlog.actions` and in keys. */
  readonly name: string;
  readonly actionClass: ActionClass<Params, Result>;
  readonly params: readonly FieldDescriptor[];
  /** Version of the params' stored format, for scheduled actions. Default 1. */
  readonly version?: number;
  /**
   * Functions that convert stored params of older versions to the next one: the first converts version 1 to version 2.
   * Default: the class's static `upcasters`, if any.
   */
  readonly upcasters?: readonly Upcaster[];
  /** When it runs by itself. Default: never. */
  readonly schedule?: FwScheduleOptions;
  /** How the result is stored under an idempotency key. Absent for an action without a result. */
  readonly result?:
    | { readonly kind: 'void' }
    /** One model, stored as its row. */
    | { readonly kind: 'model'; readonly model: string }
    | { readonly kind: 'field'; readonly type: FieldType; readonly optional?: true; readonly nullable?: true }
    /** Any other type, or not known: such an action cannot run under an idempotency key. */
    | { readonly kind: 'opaque' };
  /** Constructor wiring: a new instance for one attempt. */
  readonly create: () => Action<Params, Result>;
}
