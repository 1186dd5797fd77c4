/** The public test kit: specifies actions, handlers and sagas without a database, in any test runner. */

export type { StagedItem } from '../action/action-plan.js';
export type { PlannedSchedule } from '../action/planned-schedule.js';
export { ActionOutcome } from './action-outcome.js';
export { ActionSpec, actionSpec } from './action-spec.js';
export { type ApplicationSpecs, applicationSpecs } from './application-specs.js';
export { type Handled, HandlerOutcome } from './handler-outcome.js';
export { type Delivery, delivery, type HandlerClass, HandlerSpec } from './handler-spec.js';
export type { ExpectedArgument } from './matchers.js';
export type { SpecKit } from './memory-application.js';
export type { Performed } from './performed.js';
export { persisted } from './persisted.js';
export { type CallOf, recordedCalls } from './recorded-calls.js';
export { SagaOutcome, type SagaPerformed } from './saga-outcome.js';
export { SagaSpec } from './saga-spec.js';
export { seededIds } from './seeded-ids.js';
export { type FieldsOf, SpecOutcome } from './spec-outcome.js';
export { VirtualClock } from './virtual-clock.js';
