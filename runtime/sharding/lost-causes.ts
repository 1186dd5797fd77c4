import { shardOfUuid } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { Failover } from './failover-register.js';
import type { ShardDatabase } from './shard-database.js';

/** Something on another shard that was brought about by what a failover has lost. */
export interface LostCause {
  /**
   * `step`: taken by a saga that is gone. `key`: of an action that a handler started for an event that is gone.
   */
  readonly kind: 'step' | 'key';
  /** Where it is. */
  readonly shard: ShardIdentifier;
  /** Id of the saga or of the event. */
  readonly cause: string;
  /** The saga's step, or the handler and its call. */
  readonly effect: string;
  readonly createdDate: Date;
  /** All of it in a sentence. */
  readonly inWords: string;
}

/** What was lost is that much older than when it was noticed, at most: replication lags by seconds. */
const WINDOW_BEFORE = '1 hour';
const WINDOW_AFTER = '1 minute';
const MOST_ROWS = 10_000;

/**
 * What a failover of one shard has left behind on the others, as far as it can be known: records of saga steps, and keys
 * of actions that handlers started, whose saga or event the shard does not hold any more. A shard that does not answer
 * is left out.
 */
export async function findLostCauses(
  databases: DatabaseRegistry,
  home: ShardIdentifier,
  failover: Pick<Failover, 'noticedDate'>,
): Promise<readonly LostCause[]> {
  const others = databases.shards().filter((shard) => shard !== home);
  const found = await Promise.all(
    others.map((shard) => effectsOf(databases.database(shard), home, failover).catch(() => [])),
  );
  const effects = found.flat();
  const gone = await goneCauses(databases.database(home), effects);
  return effects.filter(({ cause }) => gone.has(cause));
}

async function effectsOf(
  database: ShardDatabase,
  home: ShardIdentifier,
  { noticedDate }: Pick<Failover, 'noticedDate'>,
): Promise<readonly LostCause[]> {
  const values = [noticedDate.toISOString()];
  const { rows } = await database.query({ text: EFFECTS, values });
  return rows.flatMap(([kind, cause, effect, created]): readonly LostCause[] => {
    const id = String(cause);
    if (shardOfUuid(id) !== home) return [];
    const { shard } = database;
    const known = { shard, cause: id, effect: String(effect), createdDate: created as Date };
    const since = `since ${known.createdDate.toISOString()}`;
    return kind === 'step'
      ? [
          {
            ...known,
            kind,
            inWords: `${shard} has step ${known.effect} of saga ${id} ${since}; the saga is gone`,
          },
        ]
      : [
          {
            ...known,
            kind: 'key',
            inWords: `${shard} has ${known.effect} for event ${id} ${since}; the event is gone`,
          },
        ];
  });
}

async function goneCauses(
  database: ShardDatabase,
  effects: readonly LostCause[],
): Promise<ReadonlySet<string>> {
  if (effects.length === 0) return new Set();
  const ids = (kind: LostCause['kind']): string =>
    `{${effects.flatMap((each) => (each.kind === kind ? [each.cause] : [])).join(',')}}`;
  const { rows } = await database.query({ text: GONE, values: [ids('step'), ids('key')] });
  return new Set(rows.map(([id]) => String(id)));
}

/** A key of a handler's action reads `handler`, event, handler, call. */
const EFFECTS = `SELECT * FROM (
  (SELECT 'step' AS kind, saga_id::text AS cause, step_number || ' ' || step AS effect, created_date
   FROM eventlog.saga_steps WHERE state = 'DONE'
     AND created_date BETWEEN $1::timestamptz - interval '${WINDOW_BEFORE}' AND $1::timestamptz + interval '${WINDOW_AFTER}'
   LIMIT ${MOST_ROWS})
  UNION ALL
  (SELECT 'key', split_part(key, ' ', 2), split_part(key, ' ', 3) || ' ' || split_part(key, ' ', 4), created_date
   FROM eventlog.idempotency_keys WHERE principal LIKE 'fw:handler:%' AND key LIKE 'handler %'
     AND created_date BETWEEN $1::timestamptz - interval '${WINDOW_BEFORE}' AND $1::timestamptz + interval '${WINDOW_AFTER}'
   LIMIT ${MOST_ROWS})) AS e ORDER BY created_date`;

const GONE = `SELECT DISTINCT c.id FROM unnest($1::uuid[]) AS c (id)
WHERE NOT EXISTS (SELECT FROM eventlog.sagas AS s WHERE s.id = c.id)
UNION ALL
SELECT DISTINCT c.id FROM unnest($2::uuid[]) AS c (id)
WHERE NOT EXISTS (SELECT FROM eventlog.events AS e WHERE e.id = c.id)`;
