import {
  AbortedError,
  ClosedError,
  CommitOutcomeUnknownError,
  DeadlineExceededError,
  IdempotencyKeyReusedError,
  RowBusyError,
  ShardBusyError,
  ShardUnavailableError,
} from '../errors.js';

const PASSING = [
  AbortedError,
  ClosedError,
  CommitOutcomeUnknownError,
  DeadlineExceededError,
  IdempotencyKeyReusedError,
  RowBusyError,
  ShardBusyError,
  ShardUnavailableError,
];

/** Whether an error is independent of the state of all models, so that another read could not change it. */
export function isPassing(error: unknown): boolean {
  return PASSING.some((passing) => error instanceof passing);
}
