import type { ActionClass } from '../action/action.js';
import type { ApplicationDefinition } from '../application-definition.js';
import type { Clock } from '../domain/clock.js';
import type { Model } from '../domain/model.js';
import type { ModelEvent } from '../domain/model-event.js';
import type { Caller } from '../domain/principal.js';
import type { SagaClass } from '../sagas/saga.js';
import { ActionSpec, DEFAULT_PRINCIPAL } from './action-spec.js';
import { type HandlerClass, HandlerSpec } from './handler-spec.js';
import type { SpecifiedApplication } from './memory-application.js';
import type { MemoryTopology } from './memory-databases.js';
import { SagaSpec } from './saga-spec.js';
import { VirtualClock } from './virtual-clock.js';

/** Topology, clock and principal of an application's specifications. */
interface ApplicationSpecsSettings extends MemoryTopology {
  /** Default: a `VirtualClock` at 2025-01-01T00:00:00Z. */
  readonly clock?: Clock;
  /** The default principal that runs actions and starts sagas. Default: a principal named `spec`. */
  readonly principal?: Caller;
}

/** The settings, with the collaborators of the application's actions; optional if there are none. */
type ApplicationSpecsOptions<Collaborators> = ApplicationSpecsSettings &
  (Record<never, never> extends Collaborators
    ? { readonly collaborators?: Collaborators }
    : { readonly collaborators: Collaborators });

/** Specifications of an application's actions, handlers and sagas, wired by the generated code. */
export interface ApplicationSpecs {
  /** Starts the specification of one action. @throws UnknownActionError at `when` if it is not registered */
  action<Params, Result>(actionClass: ActionClass<Params, Result>): ActionSpec<Params, Result>;
  /** Starts the specification of one event handler. @throws UnknownHandlerError when awaited if it is not registered */
  handler<Event extends ModelEvent<unknown>>(handlerClass: HandlerClass<Event>): HandlerSpec<Event>;
  /** Starts the specification of one saga. @throws UnknownHandlerError when awaited if it is not registered */
  saga<M extends Model>(sagaClass: SagaClass<M>): SagaSpec<M>;
}

/**
 * Specifications for a generated application, with its emitted constructor wiring. An event whose class is not
 * registered is refused, as the executor does.
 */
export function applicationSpecs<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  ...[options]: Record<never, never> extends Collaborators
    ? [options?: ApplicationSpecsOptions<Collaborators>]
    : [options: ApplicationSpecsOptions<Collaborators>]
): ApplicationSpecs {
  const { collaborators = {} as Collaborators, ...settings }: LooseOptions<Collaborators> = options ?? {};
  const { clock = new VirtualClock(), principal = DEFAULT_PRINCIPAL } = settings;
  const specified: SpecifiedApplication = {
    ...settings,
    definition: application,
    sagas: application.sagas ?? [],
    wire: (kit) => application.wire(kit, collaborators),
    wireHandlers: (kit) => application.wireHandlers?.(kit, collaborators) ?? [],
  };
  const run = { application: specified, clock, models: [] };
  return {
    action: (actionClass) => new ActionSpec({ ...run, principal, actionClass }),
    handler: (handlerClass) => new HandlerSpec(handlerClass, run),
    saga: (sagaClass) => new SagaSpec(sagaClass, { ...run, principal, troubles: [], signals: [] }),
  };
}

/** The options without the type of the collaborators. */
type LooseOptions<Collaborators> = ApplicationSpecsSettings & { readonly collaborators?: Collaborators };
