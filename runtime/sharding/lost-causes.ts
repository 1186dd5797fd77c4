import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { Failover } from './failover-register.js';
import type { ShardDatabase } from './shard-database.js';

/** An effect on another shard whose cause was lost in a failover or a restore. */
export interface LostCause {
  /** `step`: a step of a lost saga. `key`: an action that a handler started for a lost event. */
  readonly kind: 'step' | 'key';
  /** The shard of the effect. */
  readonly shard: ShardIdentifier;
  /** Id of the lost saga or event. */
  readonly cause: string;
  /** The saga's step, or the handler and its call. */
  readonly effect: string;
  readonly createdDate: Date;
  /** A sentence that describes it. */
  readonly inWords: string;
}

const WINDOW_AFTER = '1 minute';
/** Maximum number of rows of each shard, the newest ones. */
const MOST_ROWS = 100_000;

/**
 * Finds effects on other shards whose cause a failover of this shard has lost: records of saga steps, and keys of
 * actions that handlers started, whose saga or event the shard no longer contains; oldest first. Shards that do not
 * answer are left out. Of each shard the newest 100,000 rows are searched.
 */
export async function findLostCauses(
  databases: DatabaseRegistry,
  home: ShardIdentifier,
  failover: Pick<Failover, 'noticedDate' | 'lostSince'>,
): Promise<readonly LostCause[]> {
  const lostOn = async (shard: ShardIdentifier): Promise<readonly LostCause[]> => {
    const effects = await effectsOf(databases.database(shard), home, failover);
    const gone = await goneCauses(databases.database(home), effects);
    return effects.filter(({ cause }) => gone.has(cause));
  };
  const others = databases.shards().filter((shard) => shard !== home);
  const found = await Promise.all(others.map((shard) => lostOn(shard).catch(() => [])));
  return found.flat().sort((one, other) => one.createdDate.getTime() - other.createdDate.getTime());
}

async function effectsOf(
  database: ShardDatabase,
  home: ShardIdentifier,
  { noticedDate, lostSince }: Pick<Failover, 'noticedDate' | 'lostSince'>,
): Promise<readonly LostCause[]> {
  const block = (VARIANT_BITS | home.bits).toString(16);
  const values = [noticedDate.toISOString(), block, MOST_ROWS, lostSince.toISOString()];
  const { rows } = await database.query({ text: EFFECTS, values });
  return rows.map(([kind, cause, effect, created]) => {
    const { shard } = database;
    const createdDate = created as Date;
    const known = { shard, cause: String(cause), effect: String(effect), createdDate };
    const since = `since ${createdDate.toISOString()}`;
    return kind === 'step'
      ? { ...known, kind, inWords: `${shard} has step ${effect} of saga ${cause} ${since}; the saga is gone` }
      : {
          ...known,
          kind: 'key',
          inWords: `${shard} has ${effect} for event ${cause} ${since}; the event is gone`,
        };
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

/** The variant bits of RFC 9562, in the same block of a UUID as the shard's bits. */
const VARIANT_BITS = 0x8000;

const IN_WINDOW = `created_date BETWEEN $4::timestamptz
  AND $1::timestamptz + interval '${WINDOW_AFTER}'`;

/** The key of a handler's action is `handler`, event, handler, call. */
const EFFECTS = `SELECT kind, cause, effect, created_date FROM (
  SELECT 'step' AS kind, saga_id::text AS cause, step_number || ' ' || step AS effect, created_date
  FROM eventlog.saga_steps WHERE state = 'DONE' AND ${IN_WINDOW}
  UNION ALL
  SELECT 'key', split_part(key, ' ', 2), split_part(key, ' ', 3) || ' ' || split_part(key, ' ', 4), created_date
  FROM eventlog.idempotency_keys WHERE principal LIKE 'fw:handler:%' AND key LIKE 'handler %' AND ${IN_WINDOW}
) AS e WHERE substr(cause, 20, 4) = $2 ORDER BY created_date DESC LIMIT $3`;

const GONE = `SELECT DISTINCT c.id FROM unnest($1::uuid[]) AS c (id)
WHERE NOT EXISTS (SELECT FROM eventlog.sagas AS s WHERE s.id = c.id)
UNION ALL
SELECT DISTINCT c.id FROM unnest($2::uuid[]) AS c (id)
WHERE NOT EXISTS (SELECT FROM eventlog.events AS e WHERE e.id = c.id)`;
