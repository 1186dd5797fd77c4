/** The package's main entrance: what applications write their models, actions and handlers with. */

export {
  type Access,
  type AccessRule,
  Allow,
  everyone,
  type ModelRule,
  type Rule,
  type Visible,
  visible,
} from './action/access-rule.js';
export { Action, type ActionClass } from './action/action.js';
export type { ActionInput, Default } from './action/action-input.js';
export { ActionPlan } from './action/action-plan.js';
export { ExecutionConfiguration, ExecutionConfigurationBuilder } from './action/execution-configuration.js';
export type { ExecutionReport } from './action/execution-report.js';
export {
  AutoBuilder,
  FwAction,
  FwEvent,
  FwEventHandler,
  FwSaga,
  FwSchedule,
  type FwScheduleOptions,
  HttpRoute,
  Key,
} from './action/markers.js';
export { claimedGroup, groupsByClaim, type Tenancy } from './action/tenancy.js';
export {
  type Application,
  type ApplicationOptions,
  type AssemblyOptions,
  assembleApplication,
  openApplication,
} from './application.js';
export { type Clock, systemClock } from './domain/clock.js';
export { type Currency, currency, currencyCodes, isCurrency } from './domain/currency.js';
export { Decimal, plainDecimal } from './domain/decimal.js';
export type { Upcaster } from './domain/descriptor.js';
export { Entity } from './domain/entity.js';
export { Id, type ModelClass, ShardedId } from './domain/id.js';
export type { JsonObject, JsonValue } from './domain/json.js';
export { Model } from './domain/model.js';
export { ModelBuilder } from './domain/model-builder.js';
export { ModelEvent } from './domain/model-event.js';
export {
  type Caller,
  type Claims,
  type KnownPrincipal,
  type Principal,
  principalOf,
} from './domain/principal.js';
export { ShardIdentifier } from './domain/shard-identifier.js';
export { parseUuid, type Uuid } from './domain/uuid.js';
export {
  AbortedError,
  ApplicationError,
  ClosedError,
  CommitOutcomeUnknownError,
  ConstraintViolationError,
  CrossShardException,
  CrossShardPartialError,
  DatabaseError,
  DeadlineExceededError,
  DuplicateKeyError,
  type ErrorCode,
  ForbiddenError,
  FwError,
  IdempotencyKeyBusyError,
  IdempotencyKeyReusedError,
  LockLostError,
  LockTimeoutError,
  ModelNotFoundError,
  messageOf,
  NestedExecutionError,
  OutcomeForgottenError,
  PlanMisuseError,
  PreconditionFailedError,
  RefusedError,
  RetryLater,
  RowBusyError,
  ShardBusyError,
  ShardUnavailableError,
  StaleModelError,
  TooManyRequestsError,
  UnauthenticatedError,
  UniqueViolationError,
  UnknownModelError,
  UnknownShardError,
  ValidationError,
  WriteInPerformError,
} from './errors.js';
export type { EventHandler } from './events/delivery/handler-descriptor.js';
export type { EventEnvelope } from './events/log/event-envelope.js';
export { ActionExecutor, type ActionRunner } from './execution/action-executor.js';
export { KeyedLockProvider, type LockOptions, lockCondition } from './locks/keyed-lock-provider.js';
export type { LockHandle, SqlCondition } from './locks/lock-handle.js';
export type { Migration } from './migration/migration.js';
export type { Logger } from './observability/logger.js';
export { EventHistory, type EventPage, type EventRecord } from './persistence/read/event-history.js';
export type { PartialPage } from './persistence/read/list-reader.js';
export type { Page, PageRequest } from './persistence/read/page.js';
export type { QueryOptions } from './persistence/read/query-options.js';
export {
  type FoundModels,
  type LimitedList,
  type ModelQuery,
  type PagedList,
  Repository,
  type StreamedList,
} from './persistence/read/repository.js';
export type { ScatterResult, ShardFailure } from './persistence/read/scatter.js';
export type { SortTerm } from './persistence/read/sort-order.js';
export { Saga, type SagaClass } from './sagas/saga.js';
export {
  type SagaFailure,
  type SagaStep,
  type SagaStepOptions,
  type SagaSteps,
  type SagaWait,
  type SagaWaitOptions,
  step,
  wait,
} from './sagas/saga-step.js';
export { Placement } from './sharding/placement.js';
export {
  type Transaction,
  TransactionManager,
  type TransactionOptions,
} from './sharding/transaction-manager.js';
