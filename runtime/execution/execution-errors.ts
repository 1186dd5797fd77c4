import {
  DeadlineExceededError,
  type ErrorCode,
  FwError,
  ShardUnavailableError,
  StaleModelError,
} from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';

/** Errors that are independent of the state of all models, so that another read could not change them. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'FW_ABORTED',
  'FW_CLOSED',
  'FW_COMMIT_OUTCOME_UNKNOWN',
  'FW_DEADLINE_EXCEEDED',
  'FW_KEY_REUSED',
  'FW_ROW_BUSY',
  'FW_SHARD_BUSY',
  'FW_SHARD_UNAVAILABLE',
]);

export function isPassing(error: unknown): boolean {
  return error instanceof FwError && PASSING.has(error.code);
}

/** A read whose connection was lost in flight: nothing was written, so the attempt may run again. */
export function isLostRead(error: unknown): error is ShardUnavailableError {
  return (
    error instanceof ShardUnavailableError &&
    error.cause instanceof DriverFailure &&
    error.cause.phase === 'in-flight'
  );
}

interface Facts {
  readonly action: { readonly name: string };
  readonly timeoutMs: number;
}

export function deadlineExceeded({ action, timeoutMs }: Facts): DeadlineExceededError {
  return new DeadlineExceededError(
    `${action.name} did not finish within ${timeoutMs} ms; this execution wrote nothing`,
  );
}

export function staleError({ action }: Pick<Facts, 'action'>): StaleModelError {
  return new StaleModelError(action.name, 'the models that it read');
}
