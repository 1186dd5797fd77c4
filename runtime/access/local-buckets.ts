import { time } from '../concurrency/time.js';
import { TooManyRequestsError } from '../errors.js';

/** The limits of one principal on one route. */
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

/** Maximum buckets in memory. A bucket that is dropped counts as full. */
const MAXIMUM_BUCKETS = 10_000;

/** The error for a principal that exceeds its rate. */
export function tooManyRequests(
  principal: string,
  { rate }: BucketSize,
  waitMs: number,
): TooManyRequestsError {
  return new TooManyRequestsError(`${principal} makes more than ${rate} requests per second`, waitMs);
}

/** One value per principal and route. Above a maximum, the least recently used one is dropped. */
export class BucketMap<Bucket> {
  readonly #buckets = new Map<string, Bucket>();
  readonly #create: (principal: string, route: string) => Bucket;

  constructor(create: (principal: string, route: string) => Bucket) {
    this.#create = create;
  }

  use(principal: string, route: string): Bucket {
    // Route names contain no spaces.
    const key = `${route} ${principal}`;
    const bucket = this.#buckets.get(key) ?? this.#create(principal, route);
    // The map's order is that of last use.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAXIMUM_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}

/** Buckets of this process only. */
export class LocalBuckets implements Buckets {
  readonly #size: BucketSize;
  readonly #buckets: BucketMap<{ tokens: number; atMs: number }>;

  constructor(size: BucketSize) {
    this.#size = size;
    this.#buckets = new BucketMap(() => ({ tokens: size.burst, atMs: time.nowMs() }));
  }

  left(principal: string, route: string): number {
    return this.#buckets.use(principal, route).tokens;
  }

  take(principal: string, route: string): undefined {
    const { rate, burst } = this.#size;
    const bucket = this.#buckets.use(principal, route);
    const now = time.nowMs();
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.atMs) / 1_000) * rate);
    bucket.atMs = now;
    if (bucket.tokens < 1)
      throw tooManyRequests(principal, this.#size, Math.ceil(((1 - bucket.tokens) / rate) * 1_000));
    bucket.tokens -= 1;
  }
}
