import { textArray } from '../../persistence/codec/column-codec.js';
import { requireOwnLog } from '../../sharding/log-server.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { type Consumer, missingItems, selectionItems } from './consumer.js';
import type { ConsumerKind } from './consumer-store.js';

export interface Registration extends Pick<Consumer, 'name' | 'aliases' | 'startFrom'> {
  readonly kind: ConsumerKind;
  /** See `selectionItems`. Default: nothing. */
  readonly selects?: readonly string[];
}

/**
 * Stores on a shard what consumers select. A process must do so before its first write there: an earlier release that
 * selects less would move a checkpoint past events that only this release writes. Writes nothing if all is stored.
 *
 * @throws EventEpochError if a new consumer starts from now, and the log belongs to another server
 */
export async function registerConsumers(
  database: ShardDatabase,
  consumers: readonly Consumer[],
): Promise<void> {
  if (consumers.length === 0) return;
  const { rows } = await database.query({ text: SELECTIONS, values: [] });
  const stored = new Map(rows.map(([name, selects]) => [name, selects as readonly string[]]));
  for (const consumer of consumers) {
    const selects = selectionItems(consumer);
    const known = stored.get(consumer.name);
    if (known !== undefined && missingItems(selects, known).length === 0) continue;
    if (consumer.startFrom === 'now') await requireOwnLog(database);
    await registerConsumer(database, { ...consumer, kind: 'live', selects });
  }
}

/**
 * Creates a consumer if it is missing. A consumer under an alias takes the new name. A name that was renamed, and that
 * an older version of the application still uses, is not created again. Adds what this process selects to the stored
 * selection; if that is new, the current lease loses its effect, because its holder may select less.
 */
export async function registerConsumer(
  database: ShardDatabase,
  { name, kind, aliases = [], startFrom, selects = [] }: Registration,
): Promise<void> {
  for (const alias of aliases) await database.query({ text: RENAME, values: [name, alias] });
  await database.query({ text: REGISTER, values: [name, kind, startFrom === 'now', textArray(selects)] });
}

/**
 * Gives a consumer the name that it has in this release back, after a newer release has renamed it. No process of the
 * newer release may run or wait. The handler of a saga keeps its name while sagas run that were started under it: this
 * release would pass over their events.
 *
 * @returns whether it was renamed
 */
export async function takeNameBack(database: ShardDatabase, name: string): Promise<boolean> {
  const { rowCount } = await database.query({ text: TAKE_BACK, values: [name] });
  return rowCount > 0;
}

const SELECTIONS = "SELECT name, selects FROM eventlog.consumers WHERE kind = 'live'";

/** The consumer's replays keep their numbers: `old#1` becomes `new#1`. */
const RENAME = `UPDATE eventlog.consumers AS c
SET name = $1::text || substr(c.name, length($2::text) + 1), handler = $1, former_names = former_names || $2::text
WHERE c.handler = $2 AND NOT EXISTS (SELECT FROM eventlog.consumers AS o WHERE o.name = $1)`;

/** A process that waits for another release does not offer to take the consumer, but has noted why. */
const TAKE_BACK = `UPDATE eventlog.consumers AS c
SET name = $1::text || substr(c.name, length(c.handler) + 1), handler = $1,
  former_names = array_append(array_remove(former_names, $1), c.handler)
WHERE $1 = ANY (c.former_names)
  AND NOT EXISTS (SELECT FROM eventlog.consumers AS o WHERE o.name = $1
    OR (o.handler = c.handler AND (o.leased_until > clock_timestamp() OR o.waiting_for IS NOT NULL)))
  AND NOT EXISTS (SELECT FROM eventlog.delivery_processes AS p WHERE c.handler = ANY (p.handlers))
  AND NOT EXISTS (SELECT FROM eventlog.sagas AS s WHERE s.saga = c.handler AND s.state <> 'ENDED')`;

/** Before all events is `START_OF_LOG`; after those that are stored is the horizon, and no position of its transaction. */
const REGISTER = `INSERT INTO eventlog.consumers AS c (name, handler, kind, identity, epoch, transaction_id, position, selects)
SELECT $1, $1, $2, $1, s.*, $4::text[] FROM (
  SELECT max(epoch), pg_snapshot_xmin(pg_current_snapshot()), -1 FROM eventlog.delivery_epochs HAVING $3::boolean
  UNION ALL SELECT 1, '0'::xid8, 0 WHERE NOT $3::boolean) AS s
WHERE NOT EXISTS (SELECT FROM eventlog.consumers WHERE $1 = ANY (former_names))
ON CONFLICT (name) DO UPDATE SET fence = c.fence + 1,
  selects = ARRAY(SELECT DISTINCT item FROM unnest(c.selects || excluded.selects) AS item ORDER BY item)
WHERE c.kind = 'live' AND EXISTS (SELECT FROM unnest(excluded.selects) AS item
  WHERE item <> ALL (c.selects) AND split_part(item, ':', 1) || ':*' <> ALL (c.selects))`;
