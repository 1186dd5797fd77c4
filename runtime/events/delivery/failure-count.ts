import type { Attempts } from './attempts.js';
import type { CrashSuspects } from './crash-suspects.js';

/** Failures of one event. */
export interface FailureCount {
  /** Failed attempts. */
  attempts: number;
  /** Consecutive failures that do not count as attempts. */
  passed: number;
}

/** Counts a failure. @returns the pause before the next attempt; undefined after the last one */
export function countFailure(
  error: unknown,
  { id, count }: { readonly id: string; readonly count: FailureCount },
  { attempts, suspects }: { readonly attempts: Attempts; readonly suspects: CrashSuspects },
): number | undefined {
  if (attempts.isPassing(error)) {
    count.passed += 1;
    suspects.failed(id, count.attempts);
    return attempts.passingPauseMs(count.passed);
  }
  count.passed = 0;
  count.attempts += 1;
  if (attempts.isLast(count.attempts, error)) return undefined;
  suspects.failed(id, count.attempts);
  return attempts.pauseMs(count.attempts);
}
