import { time } from '../concurrency/time.js';
import { ShardUnavailableError } from '../errors.js';
import { BucketMap, type BucketSize, type Buckets, tooManyRequests } from './local-buckets.js';

/** Tokens that a process requests for one bucket. */
export interface TokenRequest {
  readonly principal: string;
  readonly route: string;
  /** At least 1, at most the burst. */
  readonly tokens: number;
}

/** The store's answer to one request. */
export interface TokenGrant {
  /** 0 up to the requested number. */
  readonly tokens: number;
  /** Milliseconds until the next token is available; 0 if one is. */
  readonly waitMs: number;
}

/** Buckets that all processes share. */
export interface TokenStore {
  /** The shard of the store, for messages. */
  readonly name: string;
  /** Takes tokens from buckets, in one statement. @returns a grant for each request, in their order */
  take(requests: readonly TokenRequest[], size: BucketSize): Promise<readonly TokenGrant[]>;
}

/** Options of `SharedBuckets`. */
export interface SharedBucketsOptions extends BucketSize {
  /** Buckets that are used while the store is unreachable. Undefined: every request is refused. */
  readonly fallback: Buckets | undefined;
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Bucket {
  readonly principal: string;
  readonly route: string;
  /** Tokens that were taken from the store and are not used yet. */
  tokens: number;
  /** Time at which they were taken. */
  takenMs: number;
  /** According to the last grant, the store has no tokens until this time. */
  emptyUntilMs: number;
  /** Waiting requests, in the order of their arrival. */
  waiting: Waiting[];
}

/** Tokens are taken for this time ahead, in milliseconds. Unused ones are lost to other processes. */
const AHEAD_MS = 100;

/** Tokens of this age are dropped, so that pauses do not add to a burst, in milliseconds. */
const KEEP_MS = 1_000;

/**
 * Time without statements after a failure, in milliseconds. Then one statement is sent, and requests do not wait for
 * it.
 */
const PAUSE_MS = 1_000;

/**
 * Token buckets in a store that all processes share. A process takes tokens for the next 100 milliseconds, for all
 * callers in one statement, and sends one statement at a time. A caller that the store has refused is refused without
 * another statement until its next token is available.
 */
export class SharedBuckets implements Buckets {
  readonly #store: TokenStore;
  readonly #options: SharedBucketsOptions;
  readonly #ahead: number;
  readonly #buckets: BucketMap<Bucket>;
  /** Buckets for which the next statement takes tokens. */
  #wanting = new Set<Bucket>();
  #isAsking = false;
  /** Time of the next statement after a failure; undefined if the store has answered. */
  #askAgainMs: number | undefined;

  constructor(store: TokenStore, options: SharedBucketsOptions) {
    this.#store = store;
    this.#options = options;
    this.#ahead = Math.floor(Math.min(options.burst, (options.rate * AHEAD_MS) / 1_000));
    this.#buckets = new BucketMap((principal, route) => ({
      ...{ principal, route, tokens: 0, takenMs: 0 },
      ...{ emptyUntilMs: Number.NEGATIVE_INFINITY, waiting: [] },
    }));
  }

  take(principal: string, route: string): Promise<void> | undefined {
    const bucket = this.#buckets.use(principal, route);
    const now = time.nowMs();
    if (now - bucket.takenMs >= KEEP_MS) bucket.tokens = 0;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      if (bucket.tokens < this.#ahead / 2 && now >= Math.max(bucket.emptyUntilMs, this.#askAgainMs ?? now))
        this.#want(bucket);
      return undefined;
    }
    if (this.#askAgainMs !== undefined) {
      if (now >= this.#askAgainMs) this.#want(bucket);
      return this.#takeWithoutStore(bucket);
    }
    if (now < bucket.emptyUntilMs)
      throw tooManyRequests(principal, this.#options, Math.ceil(bucket.emptyUntilMs - now));
    return new Promise((resolve, reject) => {
      bucket.waiting.push({ resolve, reject });
      this.#want(bucket);
    });
  }

  left(principal: string, route: string): number | undefined {
    const { tokens, emptyUntilMs } = this.#buckets.use(principal, route);
    return tokens < 1 && time.nowMs() < emptyUntilMs ? 0 : undefined;
  }

  #takeWithoutStore({ principal, route }: Bucket): Promise<void> | undefined {
    const { fallback } = this.#options;
    if (fallback === undefined)
      throw new ShardUnavailableError(this.#store.name, 'rate limits cannot be checked');
    return fallback.take(principal, route);
  }

  #want(bucket: Bucket): void {
    this.#wanting.add(bucket);
    if (!this.#isAsking) void this.#ask();
  }

  /** Takes tokens for the waiting buckets. Never rejects. */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#wanting.size > 0) {
      const buckets = [...this.#wanting];
      this.#wanting = new Set();
      try {
        await this.#fill(buckets);
      } catch {
        this.#askAgainMs = time.nowMs() + PAUSE_MS;
        // Requests that arrived meanwhile would only wait for the next failure.
        for (const bucket of [...buckets, ...this.#wanting]) this.#settleWithoutStore(bucket);
        this.#wanting = new Set();
      }
    }
    this.#isAsking = false;
  }

  async #fill(buckets: readonly Bucket[]): Promise<void> {
    const { burst } = this.#options;
    const requests = buckets.map(({ principal, route, waiting }) => ({
      ...{ principal, route },
      tokens: Math.max(1, Math.min(Math.floor(burst), waiting.length + this.#ahead)),
    }));
    const grants = await this.#store.take(requests, this.#options);
    this.#askAgainMs = undefined;
    const now = time.nowMs();
    for (const [index, bucket] of buckets.entries()) {
      const { tokens = 0, waitMs = 0 } = grants[index] ?? {};
      bucket.tokens += tokens;
      bucket.takenMs = now;
      bucket.emptyUntilMs = now + waitMs;
      this.#settle(bucket, waitMs);
    }
  }

  #settle(bucket: Bucket, waitMs: number): void {
    const { waiting, principal } = bucket;
    for (const { resolve } of waiting.splice(0, Math.floor(bucket.tokens))) {
      bucket.tokens -= 1;
      resolve();
    }
    if (waitMs > 0)
      for (const { reject } of waiting.splice(0))
        reject(tooManyRequests(principal, this.#options, Math.ceil(waitMs)));
    // More requests have arrived than tokens were requested for, and the store has more.
    else if (waiting.length > 0) this.#wanting.add(bucket);
  }

  #settleWithoutStore(bucket: Bucket): void {
    for (const { resolve, reject } of bucket.waiting.splice(0)) {
      try {
        void this.#takeWithoutStore(bucket);
        resolve();
      } catch (error) {
        reject(error);
      }
    }
  }
}
