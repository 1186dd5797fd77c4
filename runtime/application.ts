import { ActionRegistry } from './action/action-registry.js';
import { groupsByClaim, reachBy, type Tenancy } from './action/tenancy.js';
import type { ApplicationDefinition } from './application-definition.js';
import { requireCodegenVersion } from './codegen/version.js';
import { atMost } from './concurrency/at-most.js';
import { type ExecutionEnvironment, systemEnvironment } from './concurrency/execution-environment.js';
import { time } from './concurrency/time.js';
import type {
  AccessConfig,
  ExecutionDefaults,
  MemberConfig,
  RelayConfig,
  ShardingTopology,
} from './config/types.js';
import { openDatabases } from './databases.js';
import { type Clock, systemClock } from './domain/clock.js';
import { defined } from './domain/defined.js';
import { nameClass } from './domain/stored-names.js';
import { ValidationError } from './errors.js';
import type { DeliveryLimits } from './events/delivery/delivery-limits.js';
import { EventDelivery } from './events/event-delivery.js';
import { ActionExecutor, EXECUTION_DEFAULTS } from './execution/action-executor.js';
import { CrossShardJournal } from './execution/cross-shard/cross-shard-journal.js';
import { JournalRecovery } from './execution/cross-shard/journal-recovery.js';
import { Housekeeping } from './execution/housekeeping.js';
import { ShardGateways } from './execution/shard-gateways.js';
import { KeyedLockProvider } from './locks/keyed-lock-provider.js';
import { storeDefaultShard } from './migration/default-shard.js';
import { migrateShard } from './migration/migrate.js';
import { prepareShards } from './migration/prepare-shards.js';
import { verifyShard } from './migration/verify-shard.js';
import { defaultLogger, type Logger } from './observability/logger.js';
import { safeLogger } from './observability/safe-logger.js';
import { type ShardStatistics, shardStatistics } from './observability/shard-statistics.js';
import { EventCatalog } from './persistence/codec/event-catalog.js';
import type { JournalStatistics } from './persistence/journal/journal-statistics.js';
import { EventHistory } from './persistence/read/event-history.js';
import type { RepositoryContext } from './persistence/read/repository.js';
import type { WritingLimits } from './persistence/write/writer-limits.js';
import { type SinkConsumers, sinkConsumers } from './relay/sink-consumer.js';
import type { SinkDefinition, SinkStatistics } from './relay/sink-definition.js';
import { configuredSinks } from './relay/sinks/configured-sinks.js';
import { RetentionKeeper, type RetentionSettings } from './retention/retention-keeper.js';
import { sagaWokenEvent } from './sagas/saga-run.js';
import { SagaRuntime } from './sagas/saga-runtime.js';
import { Sagas } from './sagas/sagas.js';
import type { DatabaseRegistry } from './sharding/database-registry.js';
import { forgetShards, rememberShards } from './sharding/known-shards.js';
import { Placement } from './sharding/placement.js';
import type { ReplicaReads } from './sharding/replica-reads.js';
import type { ShardDatabase } from './sharding/shard-database.js';
import type { TopologyChange } from './sharding/topology-changes.js';
import { requireIdentity } from './sharding/topology-reload.js';

/** Options of an application over open databases. */
export interface AssemblyOptions<Collaborators> {
  /** Written to the `namespace` column of outbox rows. */
  readonly namespace: string;
  /** Defaults of every execution. */
  readonly execution?: Partial<ExecutionDefaults>;
  /** Limits of a statement's size and of the write queue. */
  readonly writing?: Partial<WritingLimits>;
  /** Constructor arguments of actions that are neither the clock nor repositories. */
  readonly collaborators: Collaborators;
  /**
   * The groups of shards that each principal may reach. Default: all. `fw.access.tenancy` of the configuration takes
   * precedence.
   */
  readonly tenancy?: Tenancy | undefined;
  /** `fw.access` of the configuration. */
  readonly access?: AccessConfig;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /**
   * Whether this process delivers events to handlers, drives sagas, runs scheduled actions and finishes cross-shard
   * plans that a crash has left partially applied. Default true. With false, another process must do so.
   */
  readonly deliver?: boolean;
  /** Time limits of delivery. */
  readonly delivery?: Partial<DeliveryLimits>;
  /** Receives warnings for operators. Default: standard error. */
  readonly warn?: (message: string) => void;
  /** The logger of actions and handlers. Default: pino, one line of JSON per entry, to stderr. */
  readonly log?: Logger;
  /** Receives messages about background work: preparation at start, deletions of retention. Default: discarded. */
  readonly inform?: (message: string) => void;
  /** Retention by this process. Default: it creates partitions in advance and deletes nothing. */
  readonly retention?: RetentionSettings;
  /** `fw.relay` of the configuration. Default: none. */
  readonly relay?: RelayConfig | undefined;
  /**
   * Relay sinks that run in this process, if it delivers: those of `relay`, or these. Default: none, and `fw-gen relay`
   * runs them.
   */
  readonly sinks?: boolean | readonly SinkDefinition[];
  /**
   * Whether the process migrates shards: all at start, new ones on a reload. With false, migrations run separately, and
   * each shard is verified before its first use. Default true.
   */
  readonly migrateAtStart?: boolean;
}

/** Options of `openApplication`. What `loadConfig` returns has all but the collaborators: `{ ...loadConfig(file), collaborators }`. */
export interface ApplicationOptions<Collaborators> extends AssemblyOptions<Collaborators> {
  /** The databases; `ShardingConfig.of` and `loadConfig` check them. */
  readonly sharding: ShardingTopology;
  /** `serve`: `fw-gen` may use embedded databases while this process has them open. Default `alone`: it may not. */
  readonly embedded?: 'alone' | 'serve';
  /**
   * Reaction to tables that do not match the models. `refuse`: their shard is not served. `warn`: it is served, and
   * statements on those tables will fail. Default `refuse`.
   */
  readonly drift?: 'refuse' | 'warn';
}

/** An open application. */
export interface Application {
  /** Runs actions. */
  readonly executor: ActionExecutor;
  /** The databases of all shards. */
  readonly databases: DatabaseRegistry;
  /** First argument of every repository. */
  readonly repositories: RepositoryContext;
  /** Reads the events of one model. */
  readonly eventHistory: EventHistory;
  /** Chooses members for new ids; actions receive the same instance as a constructor argument. */
  readonly placement: Placement;
  /** Positions in the log of each shard, for reads from replicas. */
  readonly replicas: ReplicaReads;
  readonly registry: ActionRegistry;
  /** Delivery to handlers: lag, dead letters, replays, scheduled actions. */
  readonly events: EventDelivery;
  /** The progress of changes that span several shards, and which of them are stuck. */
  readonly sagas: Sagas;
  /** Cross-shard plans that a crash has left partially applied. */
  readonly journal: CrossShardJournal;
  /** Retention by this process, and its status. */
  readonly retention: RetentionKeeper;
  /** Locks by name, for work that optimistic locking cannot protect. */
  readonly locks: KeyedLockProvider;
  /**
   * Switches to another topology while requests are served. New shards are migrated first; with `migrateAtStart: false` they
   * must have been migrated. See `DatabaseRegistry.reload`.
   *
   * @throws ReloadRefusedError for an unsafe change, and if a new shard cannot be reached, migrated or verified
   */
  reload(sharding: ShardingTopology): Promise<readonly TopologyChange[]>;
  /** Statistics of each shard in this process: connections, circuit breaker, queue, writes. Sends no query. */
  statistics(): readonly ShardStatistics[];
  /** Statistics of each relay sink in this process. Sends no query. */
  sinkStatistics(): readonly SinkStatistics[];
  /** Statistics of each shard's cross-shard journal. Empty in a process that does not deliver. Sends no query. */
  journalStatistics(): readonly JournalStatistics[];
  /** Stops delivery, waits for running executions, then closes the databases. */
  close(): Promise<void>;
}

/**
 * Opens the databases, migrates them and wires executor and actions. A shard whose database does not answer, cannot be
 * migrated or belongs to another shard is out of service, and the others are served: see `prepareShards`.
 *
 * @throws CodegenVersionError if the code was emitted for another runtime
 * @throws ShardIdentityError, UnsafeServerError, EmbeddedDatabaseLockedError, MigrationError if no shard can be served
 *   and waiting would not help any of them
 * @throws ShardIdentityError if a database belongs to a cluster with another default shard
 */
export async function openApplication<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  options: ApplicationOptions<Collaborators>,
): Promise<Application> {
  const { warn, embedded = 'alone' } = options;
  const databases = openDatabases(options.sharding, { embedded, ...(warn === undefined ? {} : { warn }) });
  try {
    const { migrations, models } = application;
    const { start, beforeService, ...assembled } = wireApplication(application, databases, options);
    const { log: _, ...preparing } = options;
    const preparation = await prepareShards(databases, { ...preparing, migrations, models, beforeService });
    start();
    const reload = async (sharding: ShardingTopology): Promise<readonly TopologyChange[]> => {
      const changes = await assembled.reload(sharding);
      preparation.retry();
      return changes;
    };
    return { ...assembled, reload };
  } catch (error) {
    await databases.close();
    throw error;
  }
}

/**
 * Wires executor and actions over databases that are open and migrated already. Closing the application closes them.
 * If an earlier release is running, call `events.register` for each database before the first action.
 *
 * @throws CodegenVersionError if the code was emitted for another runtime
 * @throws ValidationError for an invalid limit of writing
 */
export function assembleApplication<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  databases: DatabaseRegistry,
  options: AssemblyOptions<Collaborators>,
): Application {
  const { start, beforeService: _, ...assembled } = wireApplication(application, databases, options);
  start();
  return assembled;
}

/** An application whose background work begins with `start`. */
interface WiredApplication extends Application {
  readonly start: () => void;
  /** Called for each shard, once it is migrated. */
  readonly beforeService: (database: ShardDatabase) => Promise<void>;
}

function wireApplication<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  databases: DatabaseRegistry,
  options: AssemblyOptions<Collaborators>,
): WiredApplication {
  requireCodegenVersion(application.codegenVersion);
  const { clock = systemClock, warn = (message: string) => console.warn(message) } = options;
  for (const { modelClass, name } of application.models) nameClass(modelClass(), name);
  const catalog = new EventCatalog([...application.events, sagaWokenEvent]);
  const log = safeLogger(options.log, defaultLogger());
  const gateways = new ShardGateways(databases, options.namespace, catalog, {
    log,
    writing: options.writing,
    rememberedModels: options.execution?.rememberedModels,
  });
  const eventHistory = new EventHistory(gateways);
  const placement = new Placement(databases);
  const context = { clock, repositories: gateways, eventHistory, placement };
  const actions = application.wire(context, options.collaborators);
  const { sagas: descriptors = [], events: known } = application;
  const runtime = new SagaRuntime({ sagas: descriptors, events: known, actions, context: gateways, clock });
  const registry = new ActionRegistry([...actions, ...runtime.actions]);
  const own = new Set(runtime.actions.map(({ actionClass }) => actionClass));
  const tenancy = options.access?.tenancy === undefined ? options.tenancy : tenancyOf(options.access.tenancy);
  const reach =
    tenancy && reachBy(tenancy, { groupNumbers: (groups) => databases.groupNumbers(groups), own });
  const environment = systemEnvironment(clock);
  const executor = new ActionExecutor({
    registry,
    gateways,
    models: application.models,
    environment,
    log,
    ...defined({ reach, defaults: options.execution }),
  });
  const handlers = [
    ...(application.wireHandlers?.(context, options.collaborators) ?? []),
    ...runtime.handlers(executor),
  ];
  const sinks = sinksOf(application, options, log);
  const events = new EventDelivery({
    databases,
    handlers,
    sinks: sinks.consumers,
    executor,
    registry,
    log,
    ...defined({ limits: options.delivery, warn: options.warn }),
  });
  gateways.onCommitted = (shard, groups) => events.committed(shard, groups);
  const journal = new CrossShardJournal(gateways, environment, { models: application.models, registry });
  const recovery = new JournalRecovery({
    journal,
    shards: () => gateways.shards,
    random: environment.random,
    warn,
  });
  const locks = new KeyedLockProvider(databases, environment.random);
  const housekeeping = housekeepingOf(gateways, locks, environment, options.execution?.keyRetentionMs);
  const retention = new RetentionKeeper({
    settings: options.retention ?? {},
    databases: () => databases.shards().map((shard) => databases.database(shard)),
    random: environment.random,
    inform: options.inform ?? (() => {}),
    warn,
  });
  const start = (): void => {
    if (options.deliver !== false) {
      events.start();
      recovery.start();
    }
    housekeeping.start();
    retention.start();
  };
  const close = async (): Promise<void> => {
    const startedMs = time.nowMs();
    await events.stop();
    // An unfinished retention run ends with the databases; the next process continues it.
    const background = [housekeeping.stop(), recovery.stop(), atMost(retention.stop(), SHORTEST_GRACE_MS)];
    await Promise.all(background);
    await executor.close();
    await databases.close(Math.max(SHORTEST_GRACE_MS, CLOSE_MS - (time.nowMs() - startedMs)));
  };
  // Also the time limit of requests that wait for another server.
  const patienceMs = Math.max(RELOAD_PATIENCE_MS, options.execution?.timeoutMs ?? 0);
  const beforeService = async (database: ShardDatabase): Promise<void> => {
    await events.register(database);
    for (const line of await runtime.missingSteps(database)) warn(line);
    if (database.shard.bits === databases.defaultShard.bits)
      for (const line of await rememberShards(database, databases.shards())) warn(line);
  };
  const prepare = async (database: ShardDatabase, member: MemberConfig): Promise<void> => {
    if (options.migrateAtStart !== false) await migrateShard(database, member, application);
    else {
      await requireIdentity(database);
      await verifyShard(database, member, application);
    }
    await storeDefaultShard(database, databases.defaultShard);
    await beforeService(database);
  };
  return {
    ...{ start, beforeService },
    reload: async (sharding) => {
      const changes = await databases.reload(sharding, { prepare, patienceMs });
      await events.process.topologyChanged(changes);
      await noteShards(databases, changes);
      return changes;
    },
    executor,
    databases,
    repositories: gateways,
    eventHistory,
    placement,
    replicas: gateways.replicas,
    registry,
    events,
    sagas: new Sagas(gateways, executor),
    journal,
    locks,
    retention,
    statistics: () => shardStatistics(databases, gateways),
    sinkStatistics: sinks.statistics,
    journalStatistics: () => recovery.statistics(),
    close,
  };
}

/** Stores which shards a reload has added and removed. If the default shard does not answer, the next start warns. */
async function noteShards(databases: DatabaseRegistry, changes: readonly TopologyChange[]): Promise<void> {
  const database = databases.database(databases.defaultShard);
  const removed = changes.flatMap((change) => (change.kind === 'shard-removed' ? [change.shard] : []));
  const noted = forgetShards(database, removed).then(() => rememberShards(database, databases.shards()));
  await noted.catch(() => {});
}

function tenancyOf({ claim, unrestricted }: NonNullable<AccessConfig['tenancy']>): Tenancy {
  return groupsByClaim(
    claim,
    ({ claims }) => unrestricted !== undefined && claims[unrestricted.claim] === unrestricted.value,
  );
}

const RELOAD_PATIENCE_MS = 5_000;

/**
 * Time for calls in progress when the application closes, in milliseconds. The databases get the remaining part of it.
 */
const CLOSE_MS = 6_000;
const SHORTEST_GRACE_MS = 500;

/** Interval at which expired rows are purged, in milliseconds; shorter if rows are kept for less time. */
const PURGE_INTERVAL_MS = 60_000;
const SHORTEST_PURGE_INTERVAL_MS = 100;

function housekeepingOf(
  gateways: ShardGateways,
  locks: KeyedLockProvider,
  { random }: ExecutionEnvironment,
  retentionMs: number = EXECUTION_DEFAULTS.keyRetentionMs,
): Housekeeping {
  return new Housekeeping({
    // This process opens no connection to an unused shard; the processes that use it clean up there.
    shards: () => gateways.used,
    purges: [
      (shard, limit, limits) => gateways.gateway(shard).store.purgeKeys(limit, limits),
      (shard, limit, limits) => gateways.gateway(shard).journal.purge(limit, retentionMs, limits),
      (shard, limit, limits) => locks.purge(shard, limit, limits),
    ],
    intervalMs: Math.max(SHORTEST_PURGE_INTERVAL_MS, Math.min(PURGE_INTERVAL_MS, retentionMs)),
    random,
  });
}

/** @throws ValidationError if the configuration's sinks are requested and it has none */
function sinksOf<Collaborators>(
  { events }: Pick<ApplicationDefinition<Collaborators>, 'events'>,
  { sinks = false, relay, warn = (message) => console.warn(message) }: AssemblyOptions<Collaborators>,
  log: Logger,
): SinkConsumers {
  if (sinks === true && relay === undefined)
    throw new ValidationError('relay is enabled, but the configuration has no fw.relay');
  const configured = sinks === true && relay !== undefined ? configuredSinks(relay) : [];
  const definitions = typeof sinks === 'boolean' ? configured : sinks;
  return sinkConsumers(definitions, { events, schemaBaseUrl: relay?.schemaBaseUrl, warn, log });
}
