import { TooManyRequestsError, ValidationError } from '../errors.js';
import { type BucketSize, type Buckets, LocalBuckets } from './local-buckets.js';
import { SharedBuckets, type TokenStore } from './shared-buckets.js';

/** The limits of each principal. */
export interface CallerLimits {
  /** Average requests per second of one principal to one route. Default: no limit. */
  readonly requestsPerSecond?: number | undefined;
  /** Maximum requests of a principal at once after a pause. Default: `requestsPerSecond`. */
  readonly burst?: number | undefined;
  /**
   * Whether all processes count `requestsPerSecond` together, on the default shard. While that shard does not answer,
   * each process counts alone. Default false.
   */
  readonly shared?: boolean | undefined;
  /** Maximum concurrent requests of one principal in this process, over all routes. Default: no limit. */
  readonly concurrentRequests?: number | undefined;
}

/** Retry hint for a caller with too many concurrent requests, in milliseconds. */
const BUSY_RETRY_MS = 1_000;

/** Releases a slot; called once the request is answered. */
export type EndRequest = () => void;

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Limits requests per principal: a token bucket per route, and the concurrent requests in this process. */
export class RequestLimits {
  readonly #concurrentRequests: number;
  readonly #size: BucketSize | undefined;
  readonly #buckets: Buckets | undefined;
  readonly #running = new Map<string, number>();

  /**
   * @param store holds the tokens if the limits are shared
   * @throws ValidationError for a limit that is not a positive number: no number of requests exceeds NaN
   */
  constructor(limits: CallerLimits, store?: TokenStore) {
    const { requestsPerSecond: rate, burst, shared = false, concurrentRequests } = limits;
    for (const [name, limit] of Object.entries({ requestsPerSecond: rate, burst, concurrentRequests }))
      if (limit !== undefined && !(limit > 0))
        throw new ValidationError(`callerLimits.${name} must be a positive number, got ${limit}`);
    this.#concurrentRequests = concurrentRequests ?? Number.POSITIVE_INFINITY;
    if (rate === undefined) return;
    this.#size = { rate, burst: burst ?? Math.max(1, rate) };
    this.#buckets = new LocalBuckets(this.#size);
    if (!shared) return;
    if (store === undefined) throw new TypeError('Shared limits need a store');
    this.#buckets = new SharedBuckets(store, this.#size, this.#buckets);
  }

  /**
   * Takes a slot for one request.
   *
   * @returns a promise only if tokens must be fetched from the store
   * @throws TooManyRequestsError
   */
  enter(principal: string, route: string): EndRequest | Promise<EndRequest> {
    const running = this.#running.get(principal) ?? 0;
    if (running >= this.#concurrentRequests)
      throw new TooManyRequestsError(`${principal} has ${running} requests in progress`, BUSY_RETRY_MS);
    const taken = this.#buckets?.take(principal, route);
    this.#running.set(principal, running + 1);
    const leave = (): void => {
      const left = (this.#running.get(principal) ?? 0) - 1;
      if (left > 0) this.#running.set(principal, left);
      else this.#running.delete(principal);
    };
    if (taken === undefined) return leave;
    return taken.then(
      () => leave,
      (error: unknown) => {
        leave();
        throw error;
      },
    );
  }

  /**
   * `RateLimit-Policy` and `RateLimit` of an answer (draft-ietf-httpapi-ratelimit-headers): the burst and the seconds in
   * which it is replenished; the requests that are left at once, and the seconds until the next one or the full burst.
   */
  headers(principal: string, route: string): Readonly<Record<string, string>> {
    if (this.#size === undefined) return NO_HEADERS;
    const { rate, burst } = this.#size;
    const policy = `"caller";q=${Math.floor(burst)};w=${Math.max(1, Math.ceil(burst / rate))}`;
    const left = this.#buckets?.left(principal, route);
    if (left === undefined) return { 'ratelimit-policy': policy };
    const seconds = Math.max(1, Math.ceil(((left < 1 ? 1 : burst) - left) / rate));
    return { 'ratelimit-policy': policy, ratelimit: `"caller";r=${Math.floor(left)};t=${seconds}` };
  }
}
