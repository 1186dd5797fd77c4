import { LRUCache } from 'lru-cache';
import { time } from '../concurrency/time.js';
import { TooManyRequestsError } from '../errors.js';

/** The size of a token bucket. */
export interface BucketSize {
  /** Requests per second, on average. */
  readonly rate: number;
  /** Requests at once, after a pause. */
  readonly burst: number;
}

/** Token buckets, one for each principal and route. */
export interface Buckets {
  /**
   * Takes a token.
   *
   * @returns undefined if it was available at once
   * @throws TooManyRequestsError
   */
  take(principal: string, route: string): Promise<void> | undefined;
  /** Tokens that a principal has left; undefined if only the store knows. */
  left(principal: string, route: string): number | undefined;
}

/** Maximum buckets in memory. The least recently used one is dropped, and counts as full. */
export const MAXIMUM_BUCKETS = 10_000;
/** The error for a principal that exceeds its rate. */
export function tooManyRequests(
  principal: string,
  { rate }: BucketSize,
  waitMs: number,
): TooManyRequestsError {
  return new TooManyRequestsError(`${principal} makes more than ${rate} requests per second`, waitMs);
}

/** Buckets of this process only. */
export class LocalBuckets implements Buckets {
  readonly #size: BucketSize;
  readonly #buckets = new LRUCache<string, { tokens: number; atMs: number }>({ max: MAXIMUM_BUCKETS });

  constructor(size: BucketSize) {
    this.#size = size;
  }

  left(principal: string, route: string): number {
    return this.#buckets.get(`${route} ${principal}`)?.tokens ?? this.#size.burst;
  }

  take(principal: string, route: string): undefined {
    const { rate, burst } = this.#size;
    const key = `${route} ${principal}`;
    const now = time.nowMs();
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: burst, atMs: now };
    const left = Math.min(burst, tokens + ((now - atMs) / 1_000) * rate);
    this.#buckets.set(key, { tokens: left < 1 ? left : left - 1, atMs: now });
    if (left < 1) throw tooManyRequests(principal, this.#size, Math.ceil(((1 - left) / rate) * 1_000));
  }
}
