import { time } from '../concurrency/time.js';
import { ShardUnavailableError } from '../errors.js';
import { BucketMap, type BucketSize, type Buckets, tooManyRequests } from './local-buckets.js';

/** Tokens that a process wants for one bucket. */
export interface TokenRequest {
  readonly principal: string;
  readonly route: string;
  /** At least 1, at most the burst. */
  readonly tokens: number;
}

/** What the store gave for one request. */
export interface TokenGrant {
  /** 0 to what was asked for. */
  readonly tokens: number;
  /** When the next token is there, in milliseconds from now; 0 if there is one. */
  readonly waitMs: number;
}

/** Buckets that all processes share. */
export interface TokenStore {
  /** For messages: the shard that has them. */
  readonly name: string;
  /** Takes tokens out of buckets, in one statement. @returns a grant for each request, in their order */
  take(requests: readonly TokenRequest[], size: BucketSize): Promise<readonly TokenGrant[]>;
}

/** Options of `SharedBuckets`. */
export interface SharedBucketsOptions extends BucketSize {
  /** What counts while the store is out of reach. Undefined: every request is refused. */
  readonly fallback: Buckets | undefined;
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Bucket {
  readonly principal: string;
  readonly route: string;
  /** Taken out of the store, and not used yet. */
  tokens: number;
  /** When they were taken. */
  takenMs: number;
  /** Until then the store has none, by what it said last. */
  emptyUntilMs: number;
  /** In the order of their arrival. */
  waiting: Waiting[];
}

/** Tokens are taken for so much time ahead: unused ones are lost to other processes. */
const AHEAD_MS = 100;

/** Tokens of this age are no longer used, so that pauses do not add to a burst. */
const KEEP_MS = 1_000;

/** After a failure the store is left alone for so long. Then one statement asks, and requests do not wait for it. */
const PAUSE_MS = 1_000;

/**
 * Token buckets in a store that all processes share. A process takes tokens for the next 100 milliseconds at a time,
 * for all callers in one statement, and one statement at a time is under way. A caller that the store has refused is
 * refused without asking again until its next token is there.
 */
export class SharedBuckets implements Buckets {
  readonly #store: TokenStore;
  readonly #options: SharedBucketsOptions;
  readonly #ahead: number;
  readonly #buckets: BucketMap<Bucket>;
  /** Those that the next statement takes tokens for. */
  #wanting = new Set<Bucket>();
  #isAsking = false;
  /** When to ask a store again that has not answered; undefined: it has. */
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

  #takeWithoutStore({ principal, route }: Bucket): Promise<void> | undefined {
    const { fallback } = this.#options;
    if (fallback === undefined)
      throw new ShardUnavailableError(this.#store.name, 'requests of callers cannot be counted');
    return fallback.take(principal, route);
  }

  #want(bucket: Bucket): void {
    this.#wanting.add(bucket);
    if (!this.#isAsking) void this.#ask();
  }

  /** Never rejects. */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#wanting.size > 0) {
      const buckets = [...this.#wanting];
      this.#wanting = new Set();
      try {
        await this.#fill(buckets);
      } catch {
        this.#askAgainMs = time.nowMs() + PAUSE_MS;
        // Those that have arrived meanwhile would wait for the next failure.
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
    // The store has more than was asked for: others have arrived meanwhile.
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
