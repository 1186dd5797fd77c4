import type { ActionDescriptor } from './action/action-descriptor.js';
import type { Clock } from './domain/clock.js';
import type { EventDescriptor } from './domain/descriptor.js';
import type { ModelDescriptor } from './domain/entity.js';
import type { HandlerDescriptor } from './events/delivery/handler-descriptor.js';
import type { RouteDescriptor } from './http/route.js';
import type { Migration } from './migration/migration.js';
import type { ApiInfo } from './openapi/document.js';
import type { EventHistory } from './persistence/read/event-history.js';
import type { RepositoryContext } from './persistence/read/repository.js';
import type { SagaDescriptor } from './sagas/saga-descriptor.js';
import type { Placement } from './sharding/placement.js';

/** The objects that generated wiring may pass to constructors of actions. */
interface WiringContext {
  readonly clock: Clock;
  /** First argument of every repository. */
  readonly repositories: RepositoryContext;
  readonly eventHistory: EventHistory;
  readonly placement: Placement;
}

/** A whole application as plain data and wiring; emitted by the generator. */
export interface ApplicationDefinition<Collaborators = Record<never, never>> {
  /** The version of the codegen contract for which the code was emitted: `CODEGEN_VERSION` of its runtime. */
  readonly codegenVersion: number;
  readonly models: readonly ModelDescriptor[];
  readonly events: readonly EventDescriptor[];
  /** Creates repositories and actions with their constructor arguments. */
  readonly wire: (context: WiringContext, collaborators: Collaborators) => readonly ActionDescriptor[];
  /** Creates event handlers with their constructor arguments. Absent if there are none. */
  readonly wireHandlers?: (
    context: WiringContext,
    collaborators: Collaborators,
  ) => readonly HandlerDescriptor[];
  /** Absent if there are none. */
  readonly sagas?: readonly SagaDescriptor[];
  readonly routes: readonly RouteDescriptor[];
  /** Title and version of the OpenAPI document. */
  readonly api: ApiInfo;
  readonly migrations: readonly Migration[];
}
