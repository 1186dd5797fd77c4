import { ActionRegistry } from './action/action-registry.js';
import { systemEnvironment } from './concurrency/execution-environment.js';
/** Database operations of the command line. Loaded only by commands that need them. */
import type { ShardingTopology } from './config/types.js';
import { openDatabases, pgliteAdapter } from './databases.js';
import { EventOperations } from './events/event-operations.js';
import type { ShardLag } from './events/lag.js';
import { CrossShardJournal } from './execution/cross-shard/cross-shard-journal.js';
import { ShardGateways } from './execution/shard-gateways.js';
import { type RelayPages, serveRelayPages } from './http/process/relay-pages.js';
import type { Migration } from './migration/migration.js';
import { type NextMigrationOptions, planNextMigration as nextMigration } from './migration/next-migration.js';
import type { PlannedChanges, WantedTable } from './migration/plan-changes.js';
import { type Replay, withReplay } from './migration/replay.js';
import { lagOfShards } from './observability/lag-of-shards.js';
import { EventCatalog } from './persistence/codec/event-catalog.js';
import type { Relay } from './relay/relay.js';
import { SagaOrders } from './sagas/saga-orders.js';
import { listSagas, type SagaListOptions, type SagaPage } from './sagas/sagas.js';
import type { DatabaseRegistry } from './sharding/database-registry.js';

export { ApiKeyStore } from './access/api-key-store.js';
export type { ApplicationDefinition } from './application-definition.js';
export { type Backoff, backoffMs } from './concurrency/backoff.js';
export { KeyedMutex } from './concurrency/keyed-mutex.js';
export { Semaphore } from './concurrency/semaphore.js';
export { examine } from './doctor/examine.js';
export type { Finding, FindingLevel } from './doctor/finding.js';
export { idNamed } from './domain/id.js';
export type { JsonObject, JsonValue } from './domain/json.js';
export type { Caller } from './domain/principal.js';
export { ShardIdentifier } from './domain/shard-identifier.js';
export { parseUuid } from './domain/uuid.js';
export { FwError, messageOf } from './errors.js';
export type { DeadLetter, DeadLetterDetails, DeadLetterFilter } from './events/dead-letters/dead-letters.js';
export { EventOperations, type FailoverReport } from './events/event-operations.js';
export type { ConsumerLag, ShardLag } from './events/lag.js';
export type { HorizonHolder } from './events/log/horizon.js';
export type { RebuildProgress } from './events/replays.js';
export type { RecurringAction } from './events/schedules/schedules.js';
export type { RelayPages } from './http/process/relay-pages.js';
export { type JsonCall, mayPass, openJsonAction } from './json-action.js';
export { type MigrationStep, migrateShards } from './migration/migrate.js';
export {
  migrationStatus,
  requireIdentities,
  type ShardMigrationStatus,
} from './migration/migration-status.js';
export { findDrift, type ShardDrift } from './migration/shard-drift.js';
export type { JournalEntry } from './persistence/journal/journal-store.js';
export { connectorFiles } from './relay/connectors/connector-files.js';
export { Relay } from './relay/relay.js';
export { readEventLock } from './relay/schemas/event-lock.js';
export { configuredSinks } from './relay/sinks/configured-sinks.js';
export { describeReport } from './retention/retention-keeper.js';
export type { SagaCommand, SagaOrder } from './sagas/saga-orders.js';
export type { SagaSummary } from './sagas/sagas.js';
export type { DatabaseRegistry } from './sharding/database-registry.js';
export { DriverFailure } from './sharding/driver-failure.js';
export type { Failover } from './sharding/failover-register.js';

/**
 * Opens the databases of a topology, runs `work` and closes them. Uses embedded databases through a server that has
 * them open. With `visit` it does not open them itself.
 */
export async function withDatabases<T>(
  topology: ShardingTopology,
  { warn, embedded }: { readonly warn: (message: string) => void; readonly embedded: 'join' | 'visit' },
  work: (databases: DatabaseRegistry) => Promise<T>,
): Promise<T> {
  const databases = openDatabases(topology, { warn, embedded });
  try {
    return await work(databases);
  } finally {
    await databases.close(0);
  }
}

/** Health checks and metrics of a relay process. @throws the system's error for an address in use */
export function serveRelay(
  databases: DatabaseRegistry,
  relay: Relay,
  address: { readonly host: string; readonly port: number },
): Promise<RelayPages> {
  const operations = new EventOperations(databases);
  const lag = (): Promise<readonly ShardLag[]> => lagOfShards(databases, operations);
  return serveRelayPages({ databases, lag, statistics: () => relay.statistics(), ...address });
}

/** As `application.sagas.list`, without an application. */
export function listSagasOn(databases: DatabaseRegistry, options: SagaListOptions): Promise<SagaPage> {
  return listSagas(gatewaysOf(databases), options);
}

/** As `application.journal`, without an application: serving processes apply the missing changes. */
export function journalOn(databases: DatabaseRegistry): OperatorsJournal {
  return new CrossShardJournal(gatewaysOf(databases), systemEnvironment(), {
    models: [],
    registry: new ActionRegistry(),
  });
}

/** Operations on cross-shard plans that do not need the application's models. */
export type OperatorsJournal = Pick<CrossShardJournal, 'open' | 'show' | 'requestFinish' | 'flag'>;

/** Orders for sagas, which serving processes carry out. */
export function sagaOrdersOn(databases: DatabaseRegistry): SagaOrders {
  return new SagaOrders(gatewaysOf(databases), databases);
}

function gatewaysOf(databases: DatabaseRegistry): ShardGateways {
  return new ShardGateways(databases, '', new EventCatalog([]));
}

/** The changes from the schema of the migrations to the tables that the models require. */
export function planNextMigration(
  migrations: readonly Migration[],
  wanted: readonly WantedTable[],
  options: Omit<NextMigrationOptions, 'embedded'>,
): Promise<PlannedChanges> {
  return nextMigration(migrations, wanted, { ...options, embedded: pgliteAdapter });
}

/** Opens an embedded in-memory database for trying out migrations during `work`. */
export function withTrial<T>(work: (replay: Replay) => Promise<T>): Promise<T> {
  return withReplay(pgliteAdapter, work);
}
