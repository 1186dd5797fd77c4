import { TooManyRequestsError } from '../errors.js';
import { type Buckets, LocalBuckets } from './local-buckets.js';
import { SharedBuckets, type TokenStore } from './shared-buckets.js';

/** What one caller may take. */
export interface CallerLimits {
  /** Requests per second of one principal to one route, in the long run. Default: no limit. */
  readonly requestsPerSecond?: number | undefined;
  /** Requests that a principal may make at once after a pause. Default: `requestsPerSecond`. */
  readonly burst?: number | undefined;
  /**
   * Whether all processes on the default shard count `requestsPerSecond` together. While that shard is out of reach,
   * `lenient` has each process count alone, and `strict` refuses every request (503). Default `off`: each process
   * counts alone.
   */
  readonly shared?: 'off' | 'lenient' | 'strict' | undefined;
  /** Requests of one principal that are under way in this process, over all routes. Default: no limit. */
  readonly concurrentRequests?: number | undefined;
}

/** Gives a place back; called once the request is answered. */
export type Leave = () => void;

/** How long a caller waits who has too many requests under way, in milliseconds. */
const BUSY_RETRY_MS = 1_000;

/** Counts requests by caller: a token bucket per principal and route, and the requests under way in this process. */
export class RequestLimits {
  readonly #concurrentRequests: number;
  readonly #buckets: Buckets | undefined;
  readonly #running = new Map<string, number>();

  /** @param store holds the tokens if the limits are shared */
  constructor(limits: CallerLimits, store?: TokenStore) {
    this.#concurrentRequests = limits.concurrentRequests ?? Number.POSITIVE_INFINITY;
    this.#buckets = bucketsOf(limits, store);
  }

  /**
   * Takes a place for one request.
   *
   * @returns a promise only if tokens have to be fetched from the store
   * @throws TooManyRequestsError
   * @throws ShardUnavailableError if the limits are strict and the store is out of reach
   */
  enter(principal: string, route: string): Leave | Promise<Leave> {
    const running = this.#running.get(principal) ?? 0;
    if (running >= this.#concurrentRequests)
      throw new TooManyRequestsError(`${principal} has ${running} requests under way`, BUSY_RETRY_MS);
    const taken = this.#buckets?.take(principal, route);
    this.#running.set(principal, running + 1);
    const leave = (): void => this.#leave(principal);
    return taken === undefined ? leave : this.#entered(taken, leave);
  }

  async #entered(taken: Promise<void>, leave: Leave): Promise<Leave> {
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
