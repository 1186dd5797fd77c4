import { LRUCache } from 'lru-cache';
import { time } from '../concurrency/time.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { type BucketSize, type Buckets, MAXIMUM_BUCKETS, tooManyRequests } from './local-buckets.js';

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
  /** Takes tokens from buckets, in one statement. @returns a grant for each request, in their order */
  take(requests: readonly TokenRequest[], size: BucketSize): Promise<readonly TokenGrant[]>;
}

interface Waiting {
  readonly principal: string;
  readonly route: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Whether the request was answered without the store, and only its tokens are fetched. */
  readonly isProbe: boolean;
}

/** Time without statements after a failure, in milliseconds. Then one is sent, for which no request waits. */
const PAUSE_MS = 1_000;

/**
 * Token buckets in a store that all processes share. One statement at a time takes the tokens of all waiting requests.
 * A caller that the store has refused is refused without a statement until its next token is available. While the store
 * does not answer, each process counts alone.
 */
export class SharedBuckets implements Buckets {
  readonly #store: TokenStore;
  readonly #size: BucketSize;
  readonly #alone: Buckets;
  /** Time until which a bucket is empty, by route and principal. */
  readonly #empty = new LRUCache<string, number>({ max: MAXIMUM_BUCKETS });
  #waiting: Waiting[] = [];
  #isAsking = false;
  /** Time of the next statement after a failure; undefined if the store has answered. */
  #askAgainMs: number | undefined;

  /** @param alone the buckets of this process, for the time in which the store does not answer */
  constructor(store: TokenStore, size: BucketSize, alone: Buckets) {
    this.#store = store;
    this.#size = size;
    this.#alone = alone;
  }

  left(principal: string, route: string): number | undefined {
    return time.nowMs() < this.#emptyUntilMs(principal, route) ? 0 : undefined;
  }

  take(principal: string, route: string): Promise<void> | undefined {
    const now = time.nowMs();
    if (this.#askAgainMs !== undefined) {
      if (now >= this.#askAgainMs && !this.#isAsking) void this.#wait(principal, route, true).catch(() => {});
      return this.#alone.take(principal, route);
    }
    const waitMs = this.#emptyUntilMs(principal, route) - now;
    if (waitMs > 0) throw tooManyRequests(principal, this.#size, Math.ceil(waitMs));
    return this.#wait(principal, route);
  }

  #emptyUntilMs(principal: string, route: string): number {
    return this.#empty.get(`${route} ${principal}`) ?? 0;
  }

  #wait(principal: string, route: string, isProbe = false): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ principal, route, resolve, reject, isProbe });
      if (!this.#isAsking) void this.#ask();
    });
  }

  /** Never rejects. */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    for (let groups = this.#groups(); groups.size > 0; groups = this.#groups()) {
      try {
        await this.#fill(groups);
        this.#askAgainMs = undefined;
      } catch {
        this.#askAgainMs = time.nowMs() + PAUSE_MS;
        // Requests that arrived meanwhile would only wait for the next failure.
        for (const each of [...[...groups.values()].flat(), ...this.#waiting.splice(0)])
          this.#settleWithoutStore(each);
      }
    }
    this.#isAsking = false;
  }

  /** The waiting requests by bucket. Those of buckets that are empty by now are refused. */
  #groups(): Map<string, Waiting[]> {
    const groups = new Map<string, Waiting[]>();
    for (const each of this.#waiting.splice(0)) {
      const { principal, route, reject } = each;
      const waitMs = this.#emptyUntilMs(principal, route) - time.nowMs();
      if (waitMs > 0) reject(tooManyRequests(principal, this.#size, Math.ceil(waitMs)));
      else groups.set(`${route} ${principal}`, [...(groups.get(`${route} ${principal}`) ?? []), each]);
    }
    return groups;
  }

  async #fill(groups: ReadonlyMap<string, Waiting[]>): Promise<void> {
    const most = Math.max(1, Math.floor(this.#size.burst));
    const requests = [...groups.values()].flatMap((group) =>
      group.slice(0, 1).map(({ principal, route }) => {
        return { principal, route, tokens: Math.min(most, group.length) };
      }),
    );
    const grants = await this.#store.take(requests, this.#size);
    for (const [index, [key, group]] of [...groups].entries()) {
      const { tokens = 0, waitMs = 0 } = grants[index] ?? {};
      for (const { resolve } of group.splice(0, tokens)) resolve();
      if (waitMs > 0) this.#empty.set(key, time.nowMs() + waitMs);
      // They are refused, or more of them have arrived than the burst and the store may have more.
      this.#waiting.push(...group);
    }
  }

  #settleWithoutStore({ principal, route, resolve, reject, isProbe }: Waiting): void {
    try {
      if (isProbe) return;
      void this.#alone.take(principal, route);
      resolve();
    } catch (error) {
      reject(error);
    }
  }
}

/** Times of the store, in milliseconds. */
export interface TokenStoreTimes {
  /** Time limit of one statement, for which requests wait. Default 250. */
  readonly timeoutMs?: number;
  /** Interval at which rows of full buckets are deleted. Default 60,000. */
  readonly purgeEveryMs?: number;
}

/**
 * Token buckets in `eventlog.request_limits` of the default shard. A row stores the time at which its bucket is full
 * again, by the server's clock; a row whose time has passed has no effect.
 */
export function sqlTokenStore(
  databases: Pick<DatabaseRegistry, 'database' | 'defaultShard'>,
  { timeoutMs = 250, purgeEveryMs = 60_000 }: TokenStoreTimes = {},
): TokenStore {
  const database = databases.database(databases.defaultShard);
  let purgedMs = time.nowMs();
  const purge = (): void => {
    if (time.nowMs() - purgedMs < purgeEveryMs) return;
    purgedMs = time.nowMs();
    // Rows that remain are deleted the next time.
    void database.query(PURGE, { timeoutMs }).catch(() => {});
  };
  return {
    take: async (requests, { rate, burst }) => {
      const values = [JSON.stringify(requests), rate, burst];
      const { rows } = await database.query({ ...TAKE, values }, { timeoutMs });
      purge();
      const found = new Map(rows.map((row) => [`${row[1]} ${row[0]}`, row]));
      return requests.map(({ principal, route }) => {
        const row = found.get(`${route} ${principal}`) ?? [];
        const waitMs = Math.max(0, Number(row[3] ?? 0) - ((burst - 1) / rate) * 1_000);
        return { tokens: Number(row[2] ?? 0), waitMs };
      });
    },
  };
}

/** Seconds until a bucket is full: after a change of the limits, at most the time to fill an empty one. */
const TO_FULL = `least(extract(epoch FROM greatest(b.full_date, now()) - now()), $3::float8 / $2::float8)`;

/** Grants as many of the requested tokens as the bucket has. */
const GRANTED = `least(EXCLUDED.granted, greatest(0, floor($3::float8 - ${TO_FULL} * $2::float8)))::integer`;

/** Rows are locked in the order of their keys, so that processes cannot deadlock. */
const TAKE = {
  name: 'fw_take_tokens',
  text: `INSERT INTO eventlog.request_limits AS b (principal, route, granted, full_date)
SELECT principal, route, max(tokens), now() + make_interval(secs => max(tokens) / $2::float8)
FROM jsonb_to_recordset($1::jsonb) AS wanted (principal text, route text, tokens integer)
GROUP BY principal, route ORDER BY principal, route
ON CONFLICT (principal, route) DO UPDATE SET granted = ${GRANTED},
  full_date = now() + make_interval(secs => ${TO_FULL} + ${GRANTED} / $2::float8)
RETURNING principal, route, granted, (extract(epoch FROM full_date - now()) * 1000)::float8`,
};

/** Skips rows in use, so that no statement waits for a concurrent deletion. */
const PURGE = {
  text: `DELETE FROM eventlog.request_limits WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM eventlog.request_limits WHERE full_date < now() LIMIT 10000 FOR UPDATE SKIP LOCKED))`,
  values: [],
};
