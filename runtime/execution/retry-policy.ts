import type { AttemptEnd } from '../action/execution-report.js';
import { type Backoff, backoffMs } from '../concurrency/backoff.js';

const BACKOFF: Backoff = { firstMs: 16, longestMs: 250 };

/** The pause before the next attempt. @param attempt that has failed, from 1 @param random from 0 to 1 */
export function attemptPauseMs(attempt: number, random: number): number {
  return backoffMs(attempt, BACKOFF, random);
}

/** Limit of attempts that do not count, because they conflicted with this process only. */
export const MAXIMUM_FREE_ATTEMPTS: number = 100;

/** Ends of attempts that conflicted with this process only. */
export const FREE_ENDS: ReadonlySet<AttemptEnd> = new Set(['superseded', 'dependency-failed', 'unconfirmed']);

/**
 * A further attempt is not begun with less time than this, in milliseconds: its time would probably end while it is in
 * flight, and its outcome would be unknown.
 */
export const LEAST_MS: number = 25;
