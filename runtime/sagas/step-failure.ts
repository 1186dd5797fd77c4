import { ApplicationError, type ErrorCode, FwError, messageOf, UniqueViolationError } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { SagaFailure } from './saga-step.js';
import { stepRecordModel } from './step-record.js';

/**
 * `refusal`: the action refused the step. `passing`: a retry may succeed. `defect`: neither; probably a mistake in the
 * code.
 */
export type FailureKind = 'refusal' | 'passing' | 'defect';

/** Errors that every retry would repeat. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'FW_VALIDATION',
  'FW_REFUSED',
  'FW_PRECONDITION_FAILED',
  'FW_MODEL_NOT_FOUND',
  'FW_UNIQUE_VIOLATION',
  'FW_CONSTRAINT_VIOLATION',
]);

/** Errors of an impossible request in the code, or of a table or trigger. */
const DEFECTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'FW_CROSS_SHARD',
  'FW_DATABASE',
  'FW_WRITE_IN_PERFORM',
  'FW_NESTED_EXECUTION',
  'FW_PLAN_MISUSE',
  'FW_UNKNOWN_ACTION',
  'FW_UNKNOWN_MODEL',
]);

/**
 * Classifies an error of a step. A shard that is not configured may pass: a process that has not reloaded its
 * configuration does not know a new shard yet.
 */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof DriverFailure) return 'passing';
  if (error instanceof ApplicationError) return 'refusal';
  if (!(error instanceof FwError)) return 'defect';
  // Another process has just settled the step. The next attempt reads the outcome.
  if (error instanceof UniqueViolationError && isRecordTable(error.table)) return 'passing';
  if (REFUSALS.has(error.code)) return 'refusal';
  return DEFECTS.has(error.code) ? 'defect' : 'passing';
}

/** The stored facts of an error. */
export function sagaFailure(error: unknown): SagaFailure {
  if (error instanceof FwError || error instanceof ApplicationError)
    return { code: error.code, message: error.message };
  return { code: 'UNKNOWN', message: messageOf(error) };
}

/** The driver names the table without its schema. */
function isRecordTable(table: string | undefined): boolean {
  return table !== undefined && stepRecordModel.table.endsWith(`.${table}`);
}
