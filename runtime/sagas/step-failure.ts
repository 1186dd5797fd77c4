import { ApplicationError, type ErrorCode, FwError, UniqueViolationError } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { SagaFailure } from './saga-step.js';
import { stepRecordModel } from './step-record.js';

/** `refusal`: the answer is no. `passing`: try again. `defect`: neither; most likely a mistake in the code. */
export type FailureKind = 'refusal' | 'passing' | 'defect';

/** Errors that every retry would repeat. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'FW_VALIDATION',
  'FW_REFUSED',
  'FW_PRECONDITION_FAILED',
  'FW_MODEL_NOT_FOUND',
  'FW_UNKNOWN_SHARD',
  'FW_UNIQUE_VIOLATION',
  'FW_CONSTRAINT_VIOLATION',
]);

/** The code asks for something that can never be. */
const DEFECTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'FW_CROSS_SHARD',
  'FW_WRITE_IN_PERFORM',
  'FW_NESTED_EXECUTION',
  'FW_PLAN_MISUSE',
  'FW_UNKNOWN_ACTION',
  'FW_UNKNOWN_MODEL',
]);

/** What an error says about the step that it ended. */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof DriverFailure) return 'passing';
  if (error instanceof ApplicationError) return 'refusal';
  if (!(error instanceof FwError)) return 'defect';
  // Another process has just settled the step: the next attempt reads how.
  if (error instanceof UniqueViolationError && isRecordTable(error.table)) return 'passing';
  if (REFUSALS.has(error.code)) return 'refusal';
  return DEFECTS.has(error.code) ? 'defect' : 'passing';
}

/** What is kept of an error. */
export function sagaFailure(error: unknown): SagaFailure {
  if (error instanceof FwError || error instanceof ApplicationError)
    return { code: error.code, message: error.message };
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) };
}

/** The driver names the table without its schema. */
function isRecordTable(table: string | undefined): boolean {
  return table !== undefined && stepRecordModel.table.endsWith(`.${table}`);
}
