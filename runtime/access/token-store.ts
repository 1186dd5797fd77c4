import { time } from '../concurrency/time.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import type { BucketSize } from './local-buckets.js';
import type { TokenGrant, TokenRequest, TokenStore } from './shared-buckets.js';

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
export class SqlTokenStore implements TokenStore {
  readonly name: string;
  readonly #database: ShardDatabase;
  readonly #options: { readonly timeoutMs: number };
  readonly #purgeEveryMs: number;
  #purgedMs = time.nowMs();

  constructor(
    databases: Pick<DatabaseRegistry, 'database' | 'defaultShard'>,
    { timeoutMs = 250, purgeEveryMs = 60_000 }: TokenStoreTimes = {},
  ) {
    this.#options = { timeoutMs };
    this.#purgeEveryMs = purgeEveryMs;
    this.#database = databases.database(databases.defaultShard);
    this.name = databases.defaultShard.toString();
  }

  async take(requests: readonly TokenRequest[], { rate, burst }: BucketSize): Promise<readonly TokenGrant[]> {
    const values = [JSON.stringify(requests), rate, burst];
    const { rows } = await this.#database.query({ ...TAKE, values }, this.#options);
    const granted = new Map(
      rows.map(([principal, route, tokens, fullMs]) => [
        `${String(route)} ${String(principal)}`,
        { tokens: Number(tokens), waitMs: Math.max(0, Number(fullMs) - ((burst - 1) / rate) * 1_000) },
      ]),
    );
    this.#purgeAtTimes();
    return requests.map(
      ({ principal, route }) => granted.get(`${route} ${principal}`) ?? { tokens: 0, waitMs: 0 },
    );
  }

  #purgeAtTimes(): void {
    const now = time.nowMs();
    if (now - this.#purgedMs < this.#purgeEveryMs) return;
    this.#purgedMs = now;
    // Rows that remain are deleted the next time.
    void this.#database.query(PURGE, this.#options).catch(() => {});
  }
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
