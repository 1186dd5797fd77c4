/** What applications import. */
export { Action, type ActionClass } from './action/action.js';
export type { ActionDescriptor, ResultType } from './action/action-descriptor.js';
export { ActionPlan, type StagedItem } from './action/action-plan.js';
export { ActionRegistry } from './action/action-registry.js';
export { ExecutionConfiguration, ExecutionConfigurationBuilder } from './action/execution-configuration.js';
export type { AttemptEnd, AttemptReport, ExecutionReport, WriteReport } from './action/execution-report.js';
export {
  AutoBuilder,
  type AutoBuilderOptions,
  FwAction,
  type FwActionOptions,
  type HttpMethod,
  HttpRoute,
  type HttpRouteOptions,
  type ResponseMapper,
} from './action/markers.js';
export {
  type Application,
  type ApplicationOptions,
  type AssemblyOptions,
  assembleApplication,
  openApplication,
} from './application.js';
export type { ApplicationDefinition, WiringContext } from './application-definition.js';
export {
  ConfigurationError,
  type FwConfig,
  loadConfig,
  ShardingConfig,
  type ShardingTopology,
} from './config/index.js';
export { openDatabases } from './databases.js';
export { type Clock, systemClock } from './domain/clock.js';
export { type Currency, currency, currencyCodes, isCurrency } from './domain/currency.js';
export { Decimal, plainDecimal } from './domain/decimal.js';
export type {
  ColumnDescriptor,
  EventDescriptor,
  FieldDescriptor,
  FieldType,
  ModelDescriptor,
} from './domain/descriptor.js';
export { Entity } from './domain/entity.js';
export { Id, type ModelClass, ShardedId } from './domain/id.js';
export type { JsonValue } from './domain/json.js';
export { Model } from './domain/model.js';
export { ModelBuilder } from './domain/model-builder.js';
export { ModelEvent } from './domain/model-event.js';
export { type Principal, principalName } from './domain/principal.js';
export { ShardIdentifier } from './domain/shard-identifier.js';
export { parseUuid, type Uuid } from './domain/uuid.js';
export * from './errors.js';
export { ActionExecutor, type ActionExecutorOptions } from './execution/action-executor.js';
export { type Authenticator, fixedPrincipal } from './http/authenticator.js';
export { migrate } from './migration/migrate.js';
export { defineMigration, type Migration } from './migration/migration.js';
export { EventHistory, type EventRecord } from './persistence/event-history.js';
export type { Page, PageRequest } from './persistence/page.js';
export { type FoundModels, type ModelQuery, type ReadOptions, Repository } from './persistence/repository.js';
export { type RunningServer, type ServeOptions, serve } from './serve.js';
export { DatabaseRegistry } from './sharding/database-registry.js';
export type { CallOptions, Rows, ShardDatabase, Statement } from './sharding/shard-database.js';
export { TransactionManager } from './sharding/transaction-manager.js';
