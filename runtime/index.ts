/** The package's main entry, for applications. */

export type { StoredApiKey } from './access/api-key-store.js';
export { type ApiKey, ApiKeyStore, type NewApiKey } from './access/api-key-store.js';
export { type ApiKeyOptions, apiKeys } from './access/api-keys.js';
export {
  type Authenticator,
  CredentialMissing,
  firstOf,
  fixedPrincipal,
  type RequestHead,
} from './access/authenticator.js';
export {
  type CertificateName,
  type ClientCertificateOptions,
  clientCertificates,
} from './access/client-certificates.js';
export type { AuthenticatorContext, AuthenticatorFactory } from './access/configured.js';
export { type DevelopmentTokenOptions, developmentToken } from './access/development-token.js';
export type { KeyTimes, LoadKeys } from './access/issuer-keys.js';
export { type JwtOptions, jwt } from './access/jwt.js';
export type { CallerLimits } from './access/request-limits.js';
export {
  type Access,
  type AccessRule,
  Allow,
  everyone,
  type ModelFilter,
  type ModelRule,
  type Rule,
  type Visible,
  visible,
} from './action/access-rule.js';
export { Action, type ActionClass } from './action/action.js';
export type { ActionDescriptor, ResultType } from './action/action-descriptor.js';
export type { ActionInput, Default } from './action/action-input.js';
export {
  ActionPlan,
  type KeyedModels,
  type StagedAdd,
  type StagedExpectation,
  type StagedItem,
  type StagedUpdate,
} from './action/action-plan.js';
export { ActionRegistry } from './action/action-registry.js';
export {
  ExecutionConfiguration,
  ExecutionConfigurationBuilder,
  type IdempotencyKeyOptions,
} from './action/execution-configuration.js';
export type { AttemptEnd, AttemptReport, ExecutionReport, WriteReport } from './action/execution-report.js';
export {
  AutoBuilder,
  type AutoBuilderOptions,
  type EventClass,
  type FieldMarker,
  FwAction,
  type FwActionOptions,
  FwEvent,
  FwEventHandler,
  type FwEventHandlerOptions,
  type FwEventOptions,
  FwSaga,
  type HttpMethod,
  HttpRoute,
  type HttpRouteOptions,
  Key,
  type Marker,
  type ResponseMapper,
} from './action/markers.js';
export type { PlannedSchedule } from './action/planned-schedule.js';
export { claimedGroup, groupsByClaim, type Tenancy } from './action/tenancy.js';
export {
  type Application,
  type ApplicationOptions,
  type AssemblyOptions,
  assembleApplication,
  openApplication,
} from './application.js';
export type { ApplicationDefinition, WiringContext } from './application-definition.js';
export {
  type AccessConfig,
  ConfigurationError,
  type FwConfig,
  type JwtAlgorithm,
  type JwtConfig,
  loadConfig,
  type RetentionConfig,
  ShardingConfig,
  type ShardingTopology,
} from './config/index.js';
export { type OpenDatabasesOptions, openDatabases } from './databases.js';
export { type Clock, systemClock } from './domain/clock.js';
export type { ColumnSet } from './domain/column-set.js';
export { type Currency, currency, currencyCodes, isCurrency } from './domain/currency.js';
export { Decimal, plainDecimal } from './domain/decimal.js';
export type {
  ColumnDescriptor,
  EventDescriptor,
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  NaturalKey,
  ObjectType,
  Upcaster,
} from './domain/descriptor.js';
export type { ModelDescriptor } from './domain/entity.js';
export { Entity } from './domain/entity.js';
export { Id, type ModelClass, ShardedId } from './domain/id.js';
export type { JsonObject, JsonValue } from './domain/json.js';
export { Model } from './domain/model.js';
export { ModelBuilder } from './domain/model-builder.js';
export { ModelEvent } from './domain/model-event.js';
export type { Keyed, KeyLookup, KeyOf, KeyPlace } from './domain/natural-key.js';
export {
  type Caller,
  type Claims,
  type KnownPrincipal,
  type Principal,
  principalName,
  principalOf,
} from './domain/principal.js';
export { ShardIdentifier } from './domain/shard-identifier.js';
export { parseUuid, type Uuid } from './domain/uuid.js';
export type { Bounds, ValueRules } from './domain/value-rules.js';
export * from './errors.js';
export type {
  DeadLetter,
  DeadLetterDetails,
  DeadLetterFilter,
  DeadLetterListOptions,
  DeadLetterState,
  DeadLetters,
} from './events/dead-letters/dead-letters.js';
export type { ReplayFrom, ReplayOptions } from './events/dead-letters/replays.js';
export type { ConsumerKind } from './events/delivery/consumer-store.js';
export type { DeliveryLimits } from './events/delivery/delivery-limits.js';
export type {
  EventHandler,
  HandlerDescriptor,
  HandlerSettings,
} from './events/delivery/handler-descriptor.js';
export { EventDelivery } from './events/event-delivery.js';
export { EventOperations, type FailoverReport, type OrderedReplay } from './events/event-operations.js';
export type { ConsumerLag, ShardLag } from './events/lag.js';
export type { EventEnvelope, ExecuteOptions } from './events/log/event-envelope.js';
export type { LogCursor, LoggedEvent, SourceAction } from './events/log/event-record.js';
export type { Horizon, HorizonHolder } from './events/log/horizon.js';
export type { Rebased } from './events/log/rebase.js';
export type {
  ScheduledAction,
  ScheduleFilter,
  ScheduleState,
  Schedules,
} from './events/schedules/schedules.js';
export { ActionExecutor, type ActionRunner } from './execution/action-executor.js';
export {
  CrossShardJournal,
  type JournalEntry,
  type JournalPart,
  type PartStatus,
} from './execution/cross-shard/cross-shard-journal.js';
export type {
  ExplainedItem,
  ExplainedPart,
  ExplainedSchedule,
  ExplainedStatement,
  Explanation,
  Verdict,
} from './execution/perform/explain.js';
export type { HttpLimits } from './http/limits.js';
export type { ApplicationProblems, ProblemKind } from './http/problem-kinds.js';
export type { RouteDescriptor } from './http/route.js';
export type { RouteExecution, RouteTools } from './http/route-tools.js';
export {
  type AnyPlugin,
  type CustomRoutes,
  type ServerPlugin,
  withOptions,
} from './http/server-plugin.js';
export { KeyedLockProvider, type LockOptions, lockCondition } from './locks/keyed-lock-provider.js';
export type { LockHandle, SqlCondition } from './locks/lock-handle.js';
export type { DriftPolicy } from './migration/check-schema.js';
export {
  type MigrateOptions,
  type MigrationReport,
  type MigrationStep,
  migrate,
  type ShardMigrationReport,
} from './migration/migrate.js';
export { defineMigration, type Migration, type MigrationOrigin } from './migration/migration.js';
export { type PrepareOptions, prepareShards, type ShardPreparation } from './migration/prepare-shards.js';
export type { Logger } from './observability/logger.js';
export type { ShardStatistics } from './observability/shard-statistics.js';
export type { ApiInfo } from './openapi/document.js';
export type { SecurityScheme, SecuritySchemes } from './openapi/documented-access.js';
export type { DocumentedRoute } from './openapi/documented-route.js';
export type { AttemptOutcome } from './persistence/attempt-outcome.js';
export type { EventFacts } from './persistence/codec/recorded-event.js';
export type { JournalStatistics } from './persistence/journal/journal-statistics.js';
export { EventHistory, type EventPage, type EventRecord } from './persistence/read/event-history.js';
export { MAXIMUM_LIST_LIMIT, type PartialPage } from './persistence/read/list-reader.js';
export type { CursorScope, Page, PageRequest } from './persistence/read/page.js';
export type { QueryOptions } from './persistence/read/query-options.js';
export {
  type FoundModels,
  type LimitedList,
  type ModelList,
  type ModelQuery,
  type PagedList,
  type ReadOptions,
  Repository,
  type RepositoryContext,
  type StreamedList,
  type TableName,
} from './persistence/read/repository.js';
export type { ScatterResult, ShardFailure } from './persistence/read/scatter.js';
export type { SortDirection, SortTerm } from './persistence/read/sort-order.js';
export type { WriterCounts } from './persistence/write/writer-counters.js';
export type { WritingLimits } from './persistence/write/writer-limits.js';
export type { EmbeddedUse } from './pglite/engine-home.js';
export type { MessageShape } from './relay/message/message-format.js';
export { Relay, type RelayOptions } from './relay/relay.js';
export { ACCEPTED, type PublishOutcome, type RelayMessage, type RelaySink } from './relay/relay-sink.js';
export type { RelayContext } from './relay/sink-consumer.js';
export type { SinkDefinition, SinkSettings, SinkStatistics } from './relay/sink-definition.js';
export { configuredSinks } from './relay/sinks/configured-sinks.js';
export { type KafkaOptions, kafkaSink } from './relay/sinks/kafka/kafka-sink.js';
export { type NatsOptions, natsSink } from './relay/sinks/nats/nats-sink.js';
export { type WebhookOptions, webhookSink } from './relay/sinks/webhook/webhook-sink.js';
export type { RetentionOptions, RetentionReport } from './retention/retain.js';
export type { RetentionKeeper, RetentionSettings, RetentionStatus } from './retention/retention-keeper.js';
export { Saga, type SagaClass } from './sagas/saga.js';
export { defineSaga, type SagaDescriptor } from './sagas/saga-descriptor.js';
export { SagaRun, type SagaRunState } from './sagas/saga-run.js';
export type { SagaFilter, StuckReason } from './sagas/saga-run-repository.js';
export {
  type SagaFailure,
  type SagaStep,
  type SagaStepOptions,
  type SagaSteps,
  step,
} from './sagas/saga-step.js';
export type { SagaListOptions, SagaPage, SagaSummary, Sagas } from './sagas/sagas.js';
export {
  type RunningServer,
  type ServeOptions,
  type ServerTools,
  type ServeSettings,
  serve,
} from './serve.js';
export {
  DatabaseRegistry,
  type ReloadOptions,
} from './sharding/database-registry.js';
export type { Failover, HandlerAhead } from './sharding/failover-register.js';
export type { LostCause } from './sharding/lost-causes.js';
export { PackedArray } from './sharding/packed-array.js';
export {
  type PlacedMember,
  Placement,
  type PlacementOptions,
  type PlacementPolicy,
  type PlacementSettings,
  type PlacementSource,
} from './sharding/placement.js';
export { type LogPosition, type ReplicaRead, ReplicaReads } from './sharding/replica-reads.js';
export type {
  CallOptions,
  NotificationListener,
  NotificationSubscription,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from './sharding/shard-database.js';
export { describeChange, type TopologyChange } from './sharding/topology-changes.js';
export {
  type IsolationLevel,
  type Transaction,
  TransactionManager,
  type TransactionOptions,
} from './sharding/transaction-manager.js';
