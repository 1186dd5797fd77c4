import { shardOfUuid } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { uuidTimeMs } from '../domain/uuid.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { readCompleteFrom } from './complete-from.js';
import { type Query, statementsOn } from './short-transaction.js';

/** Finds the databases to which a shard's rows may refer: all of the topology. */
export type FindDatabase = (shard: ShardIdentifier) => ShardDatabase | undefined;

/** The result for rows that belong to another shard. */
export interface Purged {
  readonly deleted: number;
  /** Shards that did not answer: rows that belong to them are kept. */
  readonly unreachable: ReadonlySet<ShardIdentifier>;
}

/** One of the runtime's own keys. */
interface OwnKey {
  readonly name: readonly [principal: string, operation: string, key: string];
  /** Id of the event, or of the scheduled action, to which the key belongs. */
  readonly cause: string;
  readonly isScheduled: boolean;
}

/** The purpose of the key, and the id of the event or of the scheduled action: see `runUnderOwnKey`. */
const OWN_KEY =
  /^(handler|schedule) ([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(?: |$)/;

/** Few enough to be fast, because callers claim keys in the same table. */
const PAGE = 1_000;

/**
 * Deletes the keys of actions that handlers have started, and those of scheduled actions, once they cannot run again:
 * the event is gone from the log of its own shard and no dead letter contains a copy of it, or the scheduled action is
 * gone. A key is stored where the action was applied, which may be another shard than the event's.
 */
export async function purgeOwnKeys(
  database: ShardDatabase,
  find: FindDatabase,
  limitMs: number,
): Promise<Purged> {
  const query = statementsOn(database);
  const causes = new Causes(find, limitMs);
  let deleted = 0;
  let after: readonly string[] = ['', '', ''];
  for (;;) {
    const { rows } = await query(OWN_KEYS, [...after, PAGE]);
    const keys = rows.flatMap(toOwnKey);
    const gone = await causes.gone(keys);
    deleted += await deleteKeys(
      query,
      keys.filter(({ cause }) => gone.has(cause)),
    );
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return { deleted, unreachable: causes.unreachable };
    after = last.map(String);
  }
}

function toOwnKey(row: readonly unknown[]): readonly OwnKey[] {
  const [principal = '', operation = '', key = ''] = row.map(String);
  const [, kind, cause] = OWN_KEY.exec(key) ?? [];
  return cause === undefined
    ? []
    : [{ name: [principal, operation, key], cause, isScheduled: kind === 'schedule' }];
}

async function deleteKeys(query: Query, keys: readonly OwnKey[]): Promise<number> {
  if (keys.length === 0) return 0;
  const column = (index: 0 | 1 | 2): readonly string[] => keys.map(({ name }) => name[index]);
  const { rowCount } = await query(DELETE, [JSON.stringify([column(0), column(1), column(2)])]);
  return rowCount;
}

/** Queries the shards of the keys' causes. */
class Causes {
  readonly unreachable: Set<ShardIdentifier> = new Set();
  readonly #find: FindDatabase;
  readonly #limitMs: number;
  /** Time up to which the log of a shard was deleted, in milliseconds; 0: not at all. */
  readonly #goneUntil = new Map<ShardIdentifier, number>();

  constructor(find: FindDatabase, limitMs: number) {
    this.#find = find;
    this.#limitMs = limitMs;
  }

  /** The causes of these keys that are no longer needed. */
  async gone(keys: readonly OwnKey[]): Promise<ReadonlySet<string>> {
    const byShard = new Map<ShardIdentifier, OwnKey[]>();
    for (const key of keys) {
      if (uuidTimeMs(key.cause) >= this.#limitMs) continue;
      const shard = shardOfUuid(key.cause);
      byShard.set(shard, [...(byShard.get(shard) ?? []), key]);
    }
    const gone = new Set<string>();
    for (const [shard, own] of byShard) for (const cause of await this.#goneOf(shard, own)) gone.add(cause);
    return gone;
  }

  async #goneOf(shard: ShardIdentifier, keys: readonly OwnKey[]): Promise<readonly string[]> {
    const database = this.#find(shard);
    if (database === undefined || this.unreachable.has(shard)) return [];
    try {
      const ids = JSON.stringify(keys.map(({ cause }) => cause));
      const { rows } = await statementsOn(database)(NEEDED, [ids]);
      const needed = new Set(rows.map(([id]) => String(id)));
      const goneUntil = await this.#logGoneUntil(shard, database);
      // An event that is younger than retention's limit was lost in a failover: its keys are the evidence.
      const isGone = ({ cause, isScheduled }: OwnKey): boolean =>
        !needed.has(cause) && (isScheduled || uuidTimeMs(cause) < goneUntil);
      return keys.filter(isGone).map(({ cause }) => cause);
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      this.unreachable.add(shard);
      return [];
    }
  }

  async #logGoneUntil(shard: ShardIdentifier, database: ShardDatabase): Promise<number> {
    let until = this.#goneUntil.get(shard);
    if (until === undefined) {
      until = (await readCompleteFrom(database))?.getTime() ?? 0;
      this.#goneUntil.set(shard, until);
    }
    return until;
  }
}

/** The runtime's own keys never expire, and contain spaces, which callers' keys do not. */
const OWN_KEYS = `SELECT principal, operation, key FROM eventlog.idempotency_keys
WHERE expires_date >= '9999-01-01Z' AND position(' ' IN key) > 0 AND (principal, operation, key) > ($1, $2, $3)
ORDER BY principal, operation, key LIMIT $4`;

const NEEDED = `SELECT c.id FROM (SELECT value::uuid AS id FROM jsonb_array_elements_text($1::jsonb)) AS c
WHERE EXISTS (SELECT FROM eventlog.events AS e WHERE e.id = c.id)
  OR EXISTS (SELECT FROM eventlog.schedules AS s WHERE s.id = c.id)
  OR EXISTS (SELECT FROM eventlog.dead_letters AS d WHERE d.event_id = c.id AND d.state <> 'discarded')`;

const DELETE = `DELETE FROM eventlog.idempotency_keys AS k
USING jsonb_array_elements_text($1::jsonb -> 0) WITH ORDINALITY AS p(principal, nr)
JOIN jsonb_array_elements_text($1::jsonb -> 1) WITH ORDINALITY AS o(operation, nr) USING (nr)
JOIN jsonb_array_elements_text($1::jsonb -> 2) WITH ORDINALITY AS n(key, nr) USING (nr)
WHERE k.principal = p.principal AND k.operation = o.operation AND k.key = n.key`;
