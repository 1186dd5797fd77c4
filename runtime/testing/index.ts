/** The public test kit: actions specified without any database, in any test runner. */
export {
  ActionOutcome,
  type ExpectedResult,
  type FieldsOf,
  type ScheduledLater,
} from './action-outcome.js';
export {
  ActionSpec,
  type ActionSpecOptions,
  actionSpec,
  type RepositoryClass,
  type SpecKit,
} from './action-spec.js';
export {
  type ApplicationSpecs,
  type ApplicationSpecsOptions,
  type ApplicationSpecsSettings,
  applicationSpecs,
} from './application-specs.js';
export type { ErrorClass } from './expected-failure.js';
export type { MemoryTopology } from './memory-models.js';
export type { Performed } from './perform-once.js';
export { persisted } from './persisted.js';
export { seededIds } from './seeded-ids.js';
export { VirtualClock } from './virtual-clock.js';
