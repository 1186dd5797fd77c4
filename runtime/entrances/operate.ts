/** The package's `./operate` entrance: what programs of operators call. */

export type { ActionStatistics } from '../action/action-statistics.js';
export type { AttemptEnd, AttemptReport } from '../action/execution-report.js';
export { openDatabases } from '../databases.js';
export {
  CodegenVersionError,
  EmbeddedDatabaseLockedError,
  EventEpochError,
  JournalError,
  MigrationError,
  MigrationOrderError,
  ReloadRefusedError,
  ShardIdentityError,
  UnknownActionError,
  UnknownHandlerError,
  UnsafeServerError,
} from '../errors.js';
export type {
  DeadLetter,
  DeadLetterDetails,
  DeadLetterFilter,
  DeadLetters,
} from '../events/dead-letters/dead-letters.js';
export type { ConsumerKind } from '../events/delivery/consumer-store.js';
export type { DeliveryLimits } from '../events/delivery/delivery-limits.js';
export { EventDelivery } from '../events/event-delivery.js';
export { EventOperations, type FailoverReport } from '../events/event-operations.js';
export type { ConsumerLag, SagaLag, ShardLag } from '../events/lag.js';
export type { LogCursor, LoggedEvent, SourceAction } from '../events/log/event-record.js';
export type { Horizon, HorizonHolder } from '../events/log/horizon.js';
export type { Rebased } from '../events/log/rebase.js';
export type { HistoryEntry, HistoryOptions } from '../events/model-history.js';
export type { OrderedReplay, RebuildProgress, ReplayFrom, ReplayOptions } from '../events/replays.js';
export type { RecurringAction, ScheduledAction, Schedules } from '../events/schedules/schedules.js';
export { CrossShardJournal } from '../execution/cross-shard/cross-shard-journal.js';
export type { Explanation, Verdict } from '../execution/perform/explain.js';
export {
  type MigrateOptions,
  type MigrationReport,
  type MigrationStep,
  migrate,
} from '../migration/migrate.js';
export type { PrepareOptions, ShardPreparation } from '../migration/prepare-shards.js';
export { prepareShards } from '../migration/prepare-shards.js';
export type { ShardStatistics } from '../observability/shard-statistics.js';
export type { AttemptOutcome } from '../persistence/attempt-outcome.js';
export type { JournalStatistics } from '../persistence/journal/journal-statistics.js';
export type { JournalEntry } from '../persistence/journal/journal-store.js';
export type { CursorScope } from '../persistence/read/page.js';
export type { WriterCounts } from '../persistence/write/writer-counters.js';
export type { WritingLimits } from '../persistence/write/writer-limits.js';
export type { EmbeddedUse } from '../pglite/engine-home.js';
export type { RetentionOptions, RetentionReport } from '../retention/retain.js';
export type { RetentionKeeper, RetentionSettings, RetentionStatus } from '../retention/retention-keeper.js';
export { SagaRun, type SagaRunState } from '../sagas/saga-run.js';
export type { SagaFilter, StuckReason } from '../sagas/saga-run-repository.js';
export type { SagaListOptions, SagaPage, SagaSummary, Sagas } from '../sagas/sagas.js';
export { DatabaseRegistry } from '../sharding/database-registry.js';
export type { Failover } from '../sharding/failover-register.js';
export type { LostCause } from '../sharding/lost-causes.js';
export type { PlacementPolicy } from '../sharding/placement.js';
export { type ReplicaRead, ReplicaReads } from '../sharding/replica-reads.js';
export type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from '../sharding/shard-database.js';
export { describeChange, type TopologyChange } from '../sharding/topology-changes.js';
