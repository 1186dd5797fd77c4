import { shardOfUuid } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { uuidTimeMs } from '../domain/uuid.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { readCompleteFrom } from './complete-from.js';
import { statementsOn } from './short-transaction.js';

/** The purpose of the key, and the id of the event or of the scheduled action: see `runUnderOwnKey`. */
const OWN_KEY =
  /^(handler|schedule) ([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(?: |$)/;

/** Few enough to be fast, because callers claim keys in the same table. */
const PAGE = 1_000;

export interface PurgedKeys {
  readonly deletedKeys: number;
  /** Shards that did not answer: keys that belong to them are kept. */
  readonly unreachable: readonly ShardIdentifier[];
}

/**
 * Deletes the keys of actions that handlers have started, and those of scheduled actions, once they cannot run again:
 * the event is gone from the log of its own shard and no dead letter contains a copy of it, or the scheduled action is
 * gone. A key is stored where the action was applied, which may be another shard than the event's.
 */
export async function purgeOwnKeys(
  database: ShardDatabase,
  all: readonly ShardDatabase[],
  limitMs: number,
): Promise<PurgedKeys> {
  const query = statementsOn(database);
  const unreachable = new Set<ShardIdentifier>();
  let deletedKeys = 0;
  for (let after: readonly unknown[] = ['', '', '']; ; ) {
    const { rows } = await query(OWN_KEYS, [...after, PAGE]);
    const keys = rows.flatMap(toOwnKey).filter(({ cause }) => uuidTimeMs(cause) < limitMs);
    const gone: OwnKey[] = [];
    for (const home of all) {
      const own = keys.filter(({ cause }) => shardOfUuid(cause) === home.shard);
      if (own.length === 0 || unreachable.has(home.shard)) continue;
      try {
        gone.push(...(await keysOfGone(home, own)));
      } catch (error) {
        if (!(error instanceof DriverFailure)) throw error;
        unreachable.add(home.shard);
      }
    }
    const names = JSON.stringify(gone.map(({ name }) => name));
    if (gone.length > 0) deletedKeys += (await query(DELETE, [names])).rowCount;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return { deletedKeys, unreachable: [...unreachable] };
    after = last;
  }
}

/** One of the runtime's own keys, with the id of the event, or of the scheduled action, to which it belongs. */
interface OwnKey {
  readonly name: readonly string[];
  readonly cause: string;
  readonly isScheduled: boolean;
}

/** The keys of which the shard of their causes no longer has the cause. */
async function keysOfGone(home: ShardDatabase, keys: readonly OwnKey[]): Promise<readonly OwnKey[]> {
  const { rows } = await statementsOn(home)(NEEDED, [JSON.stringify(keys.map(({ cause }) => cause))]);
  const needed = new Set(rows.map(([id]) => String(id)));
  // An event that is younger than retention's limit was lost in a failover: its keys are the evidence.
  const goneUntil = (await readCompleteFrom(home))?.getTime() ?? 0;
  return keys.filter(
    ({ cause, isScheduled }) => !needed.has(cause) && (isScheduled || uuidTimeMs(cause) < goneUntil),
  );
}

function toOwnKey(row: readonly unknown[]): readonly OwnKey[] {
  const name = row.map(String);
  const [, kind, cause] = OWN_KEY.exec(name[2] ?? '') ?? [];
  return cause === undefined ? [] : [{ name, cause, isScheduled: kind === 'schedule' }];
}

/** The runtime's own keys never expire, and contain spaces, which callers' keys do not. */
const OWN_KEYS = `SELECT principal, operation, key FROM eventlog.idempotency_keys
WHERE expires_date >= '9999-01-01Z' AND position(' ' IN key) > 0 AND (principal, operation, key) > ($1, $2, $3)
ORDER BY principal, operation, key LIMIT $4`;

const NEEDED = `SELECT c.id FROM (SELECT value::uuid AS id FROM jsonb_array_elements_text($1::jsonb)) AS c
WHERE EXISTS (SELECT FROM eventlog.events AS e WHERE e.id = c.id)
  OR EXISTS (SELECT FROM eventlog.schedules AS s WHERE s.id = c.id)
  OR EXISTS (SELECT FROM eventlog.dead_letters AS d WHERE d.event_id = c.id AND d.state <> 'discarded')`;

const DELETE = `DELETE FROM eventlog.idempotency_keys AS k USING jsonb_array_elements($1::jsonb) AS name
WHERE k.principal = name ->> 0 AND k.operation = name ->> 1 AND k.key = name ->> 2`;
