import { Action, startPerform } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { ActionPlan } from '../action/action-plan.js';
import { ActionRegistry } from '../action/action-registry.js';
import { reachBy } from '../action/tenancy.js';
import type { ApplicationDefinition } from '../application-definition.js';
import { time } from '../concurrency/time.js';
import type { Clock } from '../domain/clock.js';
import type { EventDescriptor } from '../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../domain/entity.js';
import type { Principal } from '../domain/principal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { nameClass } from '../domain/stored-names.js';
import type { HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
import { ActionExecutor } from '../execution/action-executor.js';
import { ShardGateways } from '../execution/shard-gateways.js';
import { EventCatalog } from '../persistence/codec/event-catalog.js';
import { EventHistory } from '../persistence/read/event-history.js';
import type { RepositoryContext } from '../persistence/read/repository.js';
import type { SagaDescriptor } from '../sagas/saga-descriptor.js';
import { type SagaRun, sagaWokenEvent } from '../sagas/saga-run.js';
import { SagaRunRepository } from '../sagas/saga-run-repository.js';
import { SagaRuntime } from '../sagas/saga-runtime.js';
import type { Placement } from '../sharding/placement.js';
import { MemoryDatabases, type MemoryTopology } from './memory-databases.js';
import { MemoryLog } from './memory-log.js';
import { type MemoryCommit, MemoryStore, type MemoryStoreOptions, NAMESPACE } from './memory-store.js';

/** The objects from which an action under test is created. */
export interface SpecKit {
  readonly clock: Clock;
  /** First argument of every repository: reads by id see the given models. */
  readonly repositories: RepositoryContext;
  /** Passed to constructors of actions that take one; reading it needs a database. */
  readonly eventHistory: EventHistory;
  /** A placement over the configured shards, all with the same weight and size. */
  readonly placement: Placement;
  /** A repository over the given models. */
  repository<M extends Entity, R>(repositoryClass: RepositoryClass<M, R>, model: ModelDescriptor<M>): R;
}

/** A repository class as a value. */
type RepositoryClass<M extends Entity, R> = new (context: RepositoryContext, model: ModelDescriptor<M>) => R;

/** An application as specifications run it, without the type of its collaborators. */
export interface SpecifiedApplication extends MemoryTopology {
  readonly definition: Pick<ApplicationDefinition, 'models' | 'events'>;
  /** Creates the catalog of the events. Default: it refuses events that are not registered. */
  readonly catalog?: new (
    events: readonly EventDescriptor[],
  ) => EventCatalog;
  /** Creates the registry of the actions. Default: it refuses actions that are not registered. */
  readonly registry?: new (
    actions: readonly ActionDescriptor[],
  ) => ActionRegistry;
  readonly sagas: readonly SagaDescriptor[];
  readonly wire: (kit: SpecKit) => readonly ActionDescriptor[];
  readonly wireHandlers: (kit: SpecKit) => readonly HandlerDescriptor[];
}

/** @internal What every specification runs on. */
export interface SpecSetting {
  readonly application: SpecifiedApplication;
  readonly clock: Clock;
  readonly models: readonly Entity[];
}

export interface MemoryApplicationOptions extends Partial<Pick<MemoryStoreOptions, 'committed' | 'trouble'>> {
  readonly clock: Clock;
  readonly models: readonly Entity[];
  /** The saga under test. Default: all sagas, whose actions may be scheduled. */
  readonly saga?: SagaDescriptor;
  /** Additional actions of the specification. */
  readonly actions?: readonly ActionDescriptor[];
  /** Called for each attempt, before `perform`. */
  readonly attempted?: (action: ActionDescriptor, params: unknown, plan: ActionPlan) => void;
}

/** Refuses queries before they are built. */
class MemoryGateways extends ShardGateways {
  readonly #databases: MemoryDatabases;

  constructor(databases: MemoryDatabases, events: EventCatalog, store: MemoryStore) {
    super(databases, NAMESPACE, events, { rememberedModels: 0, storeOf: (shard) => store.on(shard) });
    this.#databases = databases;
  }

  override queries(shard: ShardIdentifier): never {
    throw this.#databases.refuse(shard);
  }
}

/** Runs without a database, whose clock is that of the specification, and whose steps are attempted at once. */
class MemoryRuns extends SagaRunRepository {
  readonly #clock: Clock;

  constructor({ clock, repositories }: SpecKit) {
    super(repositories);
    this.#clock = clock;
  }

  override async isOver({ deadline }: SagaRun): Promise<boolean> {
    return deadline !== undefined && deadline <= this.#clock.now();
  }
  override cameLate(): boolean {
    return false;
  }
}

type Attempted = NonNullable<MemoryApplicationOptions['attempted']>;

/** Reports its attempt before it performs another action. */
class ObservedAction extends Action<unknown, unknown> {
  readonly #observed: ActionDescriptor;
  readonly #attempted: Attempted;

  constructor(clock: Clock, observed: ActionDescriptor, attempted: Attempted) {
    super(clock);
    this.#observed = observed;
    this.#attempted = attempted;
  }

  protected perform(principal: Principal, params: unknown): unknown {
    this.#attempted(this.#observed, params, this.plan());
    // Observers accept actions of every type.
    const action = this.#observed.create() as Action<unknown, unknown>;
    return startPerform(action, this.plan(), principal, params);
  }
}

/** One run of an application in memory: fresh models, keys and log. */
export interface MemoryApplication {
  readonly databases: MemoryDatabases;
  readonly store: MemoryStore;
  readonly registry: ActionRegistry;
  readonly executor: ActionExecutor;
  readonly log: MemoryLog;
  readonly handlers: readonly HandlerDescriptor[];
  /** The handler that drives the saga. */
  readonly driver: HandlerDescriptor | undefined;
  /** In order. */
  readonly commits: readonly MemoryCommit[];
}

/** Time limit of an action under test, in milliseconds, and its attempts. */
const EXECUTION = { timeoutMs: 60_000, maximumAttempts: 1 };

/** Assembles an application over a store in memory, with the parts of `assembleApplication` where possible. */
export function memoryApplication(
  application: SpecifiedApplication,
  options: MemoryApplicationOptions,
): MemoryApplication {
  const { clock, saga, trouble = () => {}, attempted } = options;
  const { definition, catalog: Catalog = EventCatalog, registry: Registry = ActionRegistry } = application;
  const { events, models } = definition;
  for (const { modelClass, name } of models) nameClass(modelClass(), name);
  const databases = new MemoryDatabases(application);
  const catalog = new Catalog([...events, sagaWokenEvent]);
  const commits: MemoryCommit[] = [];
  const committed = (commit: MemoryCommit): void => {
    commits.push(commit);
    options.committed?.(commit);
  };
  const { defaultShard } = databases;
  const store = new MemoryStore(options.models, { events: catalog, defaultShard, committed, trouble });
  const gateways = new MemoryGateways(databases, catalog, store);
  const kit: SpecKit = {
    clock,
    repositories: gateways,
    eventHistory: new EventHistory(gateways),
    placement: databases.placement(),
    repository: (repositoryClass, model) => new repositoryClass(gateways, model),
  };
  const actions = application.wire(kit);
  const sagas = new SagaRuntime({
    sagas: saga === undefined ? application.sagas : [saga],
    events,
    actions,
    context: gateways,
    clock,
    runs: new MemoryRuns(kit),
  });
  const all = [...actions, ...sagas.actions, ...(options.actions ?? [])];
  const observed = (each: ActionDescriptor): ActionDescriptor =>
    attempted === undefined ? each : { ...each, create: () => new ObservedAction(clock, each, attempted) };
  const registry = new Registry(all.map(observed));
  const own = new Set<object>(sagas.actions.map(({ actionClass }) => actionClass));
  const groupNumbers = databases.groupNumbers.bind(databases);
  const reach = application.tenancy && reachBy(application.tenancy, { groupNumbers, own });
  const environment = { clock, nowMs: () => time.nowMs(), random: () => 0, sleep: () => Promise.resolve() };
  const executor = new ActionExecutor({
    registry,
    gateways,
    models,
    environment,
    defaults: EXECUTION,
    ...(reach !== undefined && { reach }),
  });
  const [driver] = sagas.handlers(executor);
  const handlers = application.wireHandlers(kit);
  return { databases, store, registry, executor, log: new MemoryLog(catalog), handlers, driver, commits };
}
