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

/** Whether an error says nothing about the state of any model, so that reading again could not change it. */
export function isPassing(error: unknown): boolean {
  return PASSING.some((passing) => error instanceof passing);
}
