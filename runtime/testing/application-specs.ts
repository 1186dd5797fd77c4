import type { ActionClass } from '../action/action.js';
import { ActionRegistry } from '../action/action-registry.js';
import type { ApplicationDefinition } from '../application-definition.js';
import type { Clock } from '../domain/clock.js';
import { type ActionSpec, actionSpec } from './action-spec.js';
import type { MemoryTopology } from './memory-models.js';

/** How an application's actions are specified. */
export interface ApplicationSpecsOptions<Collaborators> extends MemoryTopology {
  /** Constructor arguments of actions that are neither clock nor repository. */
  readonly collaborators: Collaborators;
  /** Default: a `VirtualClock` that stands at 2025-01-01T00:00:00Z. */
  readonly clock?: Clock;
}

/** Specifications of an application's actions, wired by the generated code. */
export interface ApplicationSpecs {
  /** Starts the specification of one action. @throws UnknownActionError at `when` if it is not registered */
  action<Params, Result>(actionClass: ActionClass<Params, Result>): ActionSpec<Params, Result>;
}

/** As `actionSpec`, for all actions of a generated application, with the constructor wiring that it emits. */
export function applicationSpecs<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  options: ApplicationSpecsOptions<Collaborators>,
): ApplicationSpecs {
  const { collaborators, ...setting } = options;
  return {
    action: (actionClass) =>
      actionSpec({
        ...setting,
        create: (kit) => new ActionRegistry(application.wire(kit, collaborators)).find(actionClass).create(),
      }),
  };
}
