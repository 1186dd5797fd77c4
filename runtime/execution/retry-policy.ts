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
