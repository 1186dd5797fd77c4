import { time } from '../concurrency/time.js';
import { TooManyRequestsError } from '../errors.js';

/** What one caller may take. */
export interface CallerLimits {
  /** Requests per second of one principal to one route, in the long run. Default: no limit. */
  readonly requestsPerSecond?: number | undefined;
  /** Requests that a principal may make at once after a pause. Default: `requestsPerSecond`. */
  readonly burst?: number | undefined;
  /** Requests of one principal that are under way at a time, over all routes. Default: no limit. */
  readonly concurrentRequests?: number | undefined;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Buckets that are remembered. A bucket that is forgotten is full. */
const MAXIMUM_BUCKETS = 10_000;

/** How long a caller waits who has too many requests under way, in milliseconds. */
const BUSY_RETRY_MS = 1_000;

/** Counts the requests of this process by caller: a token bucket per principal and route, and those under way. */
export class RequestLimits {
  readonly #limits: CallerLimits;
  readonly #buckets = new Map<string, Bucket>();
  readonly #running = new Map<string, number>();

  constructor(limits: CallerLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place for one request.
   *
   * @returns gives the place back; called once the request is answered
   * @throws TooManyRequestsError
   */
  enter(principal: string, route: string): () => void {
    const { concurrentRequests } = this.#limits;
    const running = this.#running.get(principal) ?? 0;
    if (concurrentRequests !== undefined && running >= concurrentRequests) {
      throw new TooManyRequestsError(`${principal} has ${running} requests under way`, BUSY_RETRY_MS);
    }
    this.#take(principal, route);
    this.#running.set(principal, running + 1);
    return () => this.#leave(principal);
  }

  #leave(principal: string): void {
    const running = (this.#running.get(principal) ?? 0) - 1;
    if (running > 0) this.#running.set(principal, running);
    else this.#running.delete(principal);
  }

  #take(principal: string, route: string): void {
    const { requestsPerSecond: rate } = this.#limits;
    if (rate === undefined) return;
    const { burst = Math.max(1, rate) } = this.#limits;
    const key = `${route} ${principal}`;
    const now = time.nowMs();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, atMs: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.atMs) / 1_000) * rate);
    bucket.atMs = now;
    if (bucket.tokens < 1) {
      const waitMs = Math.ceil(((1 - bucket.tokens) / rate) * 1_000);
      throw new TooManyRequestsError(`${principal} makes more than ${rate} requests per second`, waitMs);
    }
    bucket.tokens -= 1;
    // The order of the map is that of their last use.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAXIMUM_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
