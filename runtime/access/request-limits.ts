import { TooManyRequestsError } from '../errors.js';
import { type Buckets, LocalBuckets } from './local-buckets.js';
import { SharedBuckets, type TokenStore } from './shared-buckets.js';

/** The limits of each principal. */
export interface CallerLimits {
  /** Average requests per second of one principal to one route. Default: no limit. */
  readonly requestsPerSecond?: number | undefined;
  /** Maximum requests of a principal at once after a pause. Default: `requestsPerSecond`. */
  readonly burst?: number | undefined;
  /**
   * Whether all processes on the default shard count `requestsPerSecond` together. While that shard is unreachable,
   * with `lenient` each process counts alone, and with `strict` every request is refused (503). Default `off`: each
   * process counts alone.
   */
  readonly shared?: 'off' | 'lenient' | 'strict' | undefined;
  /** Maximum concurrent requests of one principal in this process, over all routes. Default: no limit. */
  readonly concurrentRequests?: number | undefined;
}

/** Releases a slot; called once the request is answered. */
export type EndRequest = () => void;

/** Retry hint for a caller with too many concurrent requests, in milliseconds. */
const BUSY_RETRY_MS = 1_000;

/** Limits requests per principal: a token bucket per route, and the concurrent requests in this process. */
export class RequestLimits {
  readonly #concurrentRequests: number;
  readonly #buckets: Buckets | undefined;
  /** `RateLimit-Policy` and its two numbers. */
  readonly #policy: Policy | undefined;
  readonly #running = new Map<string, number>();

  /** @param store holds the tokens if the limits are shared */
  constructor(limits: CallerLimits, store?: TokenStore) {
    this.#concurrentRequests = limits.concurrentRequests ?? Number.POSITIVE_INFINITY;
    this.#buckets = bucketsOf(limits, store);
    this.#policy = policyOf(limits);
  }

  /**
   * Takes a slot for one request.
   *
   * @returns a promise only if tokens must be fetched from the store
   * @throws TooManyRequestsError
   * @throws ShardUnavailableError if the limits are strict and the store is unreachable
   */
  enter(principal: string, route: string): EndRequest | Promise<EndRequest> {
    const running = this.#running.get(principal) ?? 0;
    if (running >= this.#concurrentRequests)
      throw new TooManyRequestsError(`${principal} has ${running} requests in progress`, BUSY_RETRY_MS);
    const taken = this.#buckets?.take(principal, route);
    this.#running.set(principal, running + 1);
    const leave = (): void => this.#leave(principal);
    return taken === undefined ? leave : this.#entered(taken, leave);
  }

  /**
   * `RateLimit-Policy` and `RateLimit` of an answer (draft-ietf-httpapi-ratelimit-headers): the burst and the seconds in
   * which it is replenished; the requests that are left at once, and the seconds until the next one or the full burst.
   */
  headers(principal: string, route: string): readonly (readonly [name: string, value: string])[] {
    if (this.#policy === undefined || this.#buckets === undefined) return NO_HEADERS;
    const { text, rate, burst } = this.#policy;
    const left = this.#buckets.left(principal, route);
    if (left === undefined) return [['ratelimit-policy', text]];
    const seconds = Math.max(1, Math.ceil(((left < 1 ? 1 : burst) - left) / rate));
    return [
      ['ratelimit-policy', text],
      ['ratelimit', `"caller";r=${Math.floor(left)};t=${seconds}`],
    ];
  }

  async #entered(taken: Promise<void>, leave: EndRequest): Promise<EndRequest> {
    try {
      await taken;
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  #leave(principal: string): void {
    const running = (this.#running.get(principal) ?? 0) - 1;
    if (running > 0) this.#running.set(principal, running);
    else this.#running.delete(principal);
  }
}

interface Policy {
  readonly text: string;
  readonly rate: number;
  readonly burst: number;
}

const NO_HEADERS: readonly never[] = [];

function policyOf({ requestsPerSecond: rate, burst }: CallerLimits): Policy | undefined {
  if (rate === undefined) return undefined;
  const most = burst ?? Math.max(1, rate);
  return {
    text: `"caller";q=${Math.floor(most)};w=${Math.max(1, Math.ceil(most / rate))}`,
    rate,
    burst: most,
  };
}

function bucketsOf(
  { requestsPerSecond: rate, burst, shared = 'off' }: CallerLimits,
  store: TokenStore | undefined,
): Buckets | undefined {
  if (rate === undefined) return undefined;
  const size = { rate, burst: burst ?? Math.max(1, rate) };
  const local = new LocalBuckets(size);
  if (shared === 'off') return local;
  if (store === undefined) throw new TypeError('Shared limits need a store');
  return new SharedBuckets(store, { ...size, fallback: shared === 'lenient' ? local : undefined });
}
