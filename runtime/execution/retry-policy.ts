import type { AttemptEnd } from '../action/execution-report.js';

/** Longest first pause, doubled with each attempt. */
const BASE_MS = 8;
const LONGEST_MS = 250;

/**
 * The pause before the next attempt: exponential backoff with full jitter, that is, anything from 0 to the bound.
 * Source: M. Brooker, "Exponential Backoff And Jitter" (2015).
 *
 * @param attempt the attempt that has failed, from 1 @param random from 0 to 1
 */
export function backoffMs(attempt: number, random: number): number {
  return random * Math.min(LONGEST_MS, BASE_MS * 2 ** attempt);
}

/** Attempts that cost nothing, because only this process was in the way: bounded all the same. */
export const MAXIMUM_FREE_ATTEMPTS: number = 100;

/** Only this process was in the way. */
export const FREE_ENDS: ReadonlySet<AttemptEnd> = new Set(['superseded', 'dependency-failed', 'unconfirmed']);

/**
 * A further attempt is not begun with less time than this, in milliseconds: its time would probably end while it is on
 * its way, and then nobody could say what became of it.
 */
export const LEAST_MS: number = 25;
