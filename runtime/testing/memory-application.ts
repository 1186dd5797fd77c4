import type { ActionDescriptor } from '../action/action-descriptor.js';
import { ActionRegistry } from '../action/action-registry.js';
import { reachBy } from '../action/tenancy.js';
import type { ApplicationDefinition } from '../application-definition.js';
import type { Clock } from '../domain/clock.js';
import type { Entity } from '../domain/entity.js';
import { nameClass } from '../domain/stored-names.js';
import type { HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
import { EventCatalog } from '../persistence/codec/event-catalog.js';
import { ResultJson } from '../persistence/codec/result-json.js';
import { EventHistory } from '../persistence/read/event-history.js';
import type { SagaDescriptor } from '../sagas/saga-descriptor.js';
import { type SagaRun, sagaWokenEvent } from '../sagas/saga-run.js';
import { SagaRunRepository } from '../sagas/saga-run-repository.js';
import { SagaRuntime } from '../sagas/saga-runtime.js';
import type { Placement } from '../sharding/placement.js';
import { type MemoryCommit, MemoryExecutor } from './memory-executor.js';
import { MemoryLog } from './memory-log.js';
import { MemoryModels, type MemoryTopology } from './memory-models.js';
import { memoryPlacement } from './memory-placement.js';

/** An application as specifications run it, without the type of its collaborators. */
export interface SpecifiedApplication extends MemoryTopology {
  readonly definition: Pick<ApplicationDefinition, 'events' | 'models'>;
  readonly sagas: readonly SagaDescriptor[];
  readonly wire: (context: MemoryWiring) => readonly ActionDescriptor[];
  readonly wireHandlers: (context: MemoryWiring) => readonly HandlerDescriptor[];
}

/** The objects from which a run's repositories, actions and handlers are created. */
export interface MemoryWiring {
  readonly clock: Clock;
  readonly repositories: MemoryModels;
  readonly eventHistory: EventHistory;
  readonly placement: Placement;
}

export interface MemoryApplicationOptions {
  readonly clock: Clock;
  readonly models: readonly Entity[];
  /** The saga under test. Default none. */
  readonly saga?: SagaDescriptor;
  /** Additional actions of the specification. */
  readonly actions?: (context: MemoryWiring) => readonly ActionDescriptor[];
  readonly committed?: (commit: MemoryCommit) => void;
  readonly attempted?: (action: ActionDescriptor, params: unknown) => void;
  readonly trouble?: (action: ActionDescriptor, point: 'before commit' | 'after commit') => void;
}

/** Runs without a database, whose clock is that of the specification. */
class MemoryRuns extends SagaRunRepository {
  readonly #clock: Clock;

  constructor(models: MemoryModels, clock: Clock) {
    super(models);
    this.#clock = clock;
  }

  override async isOver({ deadline }: SagaRun): Promise<boolean> {
    return deadline !== undefined && deadline <= this.#clock.now();
  }
}

/** One run of an application in memory: fresh models, keys and log. */
export interface MemoryApplication {
  readonly models: MemoryModels;
  readonly registry: ActionRegistry;
  readonly executor: MemoryExecutor;
  readonly log: MemoryLog;
  readonly handlers: readonly HandlerDescriptor[];
  /** The handler that drives the saga. */
  readonly driver: HandlerDescriptor | undefined;
  /** Actions that have taken effect, in order. */
  readonly commits: readonly MemoryCommit[];
}

/** Assembles an application over models in memory, with the parts of `assembleApplication` where possible. */
export function memoryApplication(
  application: SpecifiedApplication,
  options: MemoryApplicationOptions,
): MemoryApplication {
  const { clock, saga } = options;
  const models = new MemoryModels(options.models, application);
  const context = {
    clock,
    repositories: models,
    eventHistory: new EventHistory(models),
    placement: memoryPlacement(models),
  };
  const { events, models: descriptors } = application.definition;
  for (const { modelClass, name } of descriptors) nameClass(modelClass(), name);
  const catalog = new EventCatalog([...events, sagaWokenEvent]);
  const actions = application.wire(context);
  const sagas = new SagaRuntime({
    sagas: saga === undefined ? [] : [saga],
    events,
    actions,
    context: models,
    clock,
    runs: new MemoryRuns(models, clock),
  });
  const registry = new ActionRegistry([...actions, ...sagas.actions, ...(options.actions?.(context) ?? [])]);
  const commits: MemoryCommit[] = [];
  const executor = new MemoryExecutor({
    registry,
    catalog,
    models,
    clock,
    reach:
      application.tenancy &&
      reachBy(application.tenancy, {
        groupNumbers: (groups) => models.groupNumbers(groups),
        own: new Set(sagas.actions.map(({ actionClass }) => actionClass)),
      }),
    results: new ResultJson(descriptors),
    committed: (commit) => {
      commits.push(commit);
      options.committed?.(commit);
    },
    ...(options.attempted === undefined ? {} : { attempted: options.attempted }),
    ...(options.trouble === undefined ? {} : { trouble: options.trouble }),
  });
  const [driver] = sagas.handlers(executor);
  const handlers = application.wireHandlers(context);
  return { models, registry, executor, log: new MemoryLog(catalog), handlers, driver, commits };
}
