/** The public test kit: specifies actions, handlers and sagas without a database, in any test runner. */

export type { StagedAdd, StagedExpectation, StagedItem, StagedUpdate } from '../action/action-plan.js';
export type { PlannedSchedule } from '../action/planned-schedule.js';
export { ActionOutcome, type ExpectedResult } from './action-outcome.js';
export { ActionSpec, type ActionSpecOptions, actionSpec } from './action-spec.js';
export {
  type ApplicationSpecs,
  type ApplicationSpecsOptions,
  type ApplicationSpecsSettings,
  applicationSpecs,
} from './application-specs.js';
export type { ErrorClass } from './expected-failure.js';
export { type Handled, HandlerOutcome, type StartedAction } from './handler-outcome.js';
export {
  type Delivery,
  type DeliveryOptions,
  delivery,
  type HandlerClass,
  HandlerSpec,
} from './handler-spec.js';
export type { ExpectedArgument } from './matchers.js';
export type { RepositoryClass, SpecKit } from './memory-application.js';
export type { MemoryTopology } from './memory-databases.js';
export type { Performed } from './performed.js';
export { persisted } from './persisted.js';
export { type CallOf, recordedCalls } from './recorded-calls.js';
export {
  type ExpectedStep,
  SagaOutcome,
  type SagaPerformed,
  type TakenStep,
} from './saga-outcome.js';
export { SagaSpec, type SpecifiedSaga } from './saga-spec.js';
export { seededIds } from './seeded-ids.js';
export {
  type FieldsOf,
  type OfResult,
  type ScheduledLater,
  SpecOutcome,
} from './spec-outcome.js';
export { VirtualClock } from './virtual-clock.js';
