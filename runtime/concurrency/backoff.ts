/** The growth of pauses between attempts. */
export interface Backoff {
  /** Maximum pause after the first failure, in milliseconds. It doubles with each further failure. */
  readonly firstMs: number;
  /** Maximum of all pauses, in milliseconds. */
  readonly longestMs: number;
  /** Minimum pause, in milliseconds, or `half` of the maximum pause at that point. Default 0: full jitter. */
  readonly least?: number | 'half';
}

/**
 * The pause before the next attempt: exponential backoff with jitter, so that attempts that failed together do not run
 * again together. Source: M. Brooker, "Exponential Backoff And Jitter" (2015).
 *
 * @param number of failures, from 1 @param random from 0 to 1
 */
export function backoffMs(
  failures: number,
  { firstMs, longestMs, least = 0 }: Backoff,
  random: number,
): number {
  const mostMs = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  const leastMs = least === 'half' ? mostMs / 2 : least;
  return leastMs + random * (mostMs - leastMs);
}
