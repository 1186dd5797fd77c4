import type { AttemptEnd } from '../action/execution-report.js';
import { type Backoff, backoffMs } from '../concurrency/backoff.js';

const BACKOFF: Backoff = { firstMs: 16, longestMs: 250 };

/**
 * The pause before the next attempt, in milliseconds.
 * @param attempt number of the failed attempt, from 1
 * @param random from 0 to 1
 */
export function attemptPauseMs(attempt: number, random: number): number {
  return backoffMs(attempt, BACKOFF, random);
}

/** Maximum attempts that do not count because they conflicted only with this process. */
export const MAXIMUM_FREE_ATTEMPTS: number = 100;

/** Ends of attempts that conflicted only with this process. */
export const FREE_ENDS: ReadonlySet<AttemptEnd> = new Set(['superseded', 'dependency-failed', 'unconfirmed']);

/**
 * Minimum remaining time for a further attempt, in milliseconds. With less, the deadline would probably pass while the
 * attempt is in flight, and its outcome would be unknown.
 */
export const LEAST_MS: number = 25;
