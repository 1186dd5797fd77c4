import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { EVENTS } from '../../persistence/write/eventlog-tables.js';
import { type Query, withShortLock } from '../../retention/short-transaction.js';
import { rebasedFrom } from '../../sharding/failover-register.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';

/** The result of `rebase` on one shard. */
export interface Rebased {
  readonly shard: ShardIdentifier;
  /**
   * `unchanged`: the server is the one that the log was written on. `adopted`: another system identifier, but the log
   * needs no new epoch: its transaction ids continue (pg_upgrade), or it has no event of the latest epoch. `opened`: a
   * new epoch begins, and `failovers` reports it.
   */
  readonly outcome: 'unchanged' | 'adopted' | 'opened';
  readonly epoch: number;
  /** Positions above this one belong to the epoch. */
  readonly afterPosition: number;
  /**
   * Events that this server wrote below `afterPosition`, because the sequence of positions had restarted, and that were
   * moved above it. They keep their ids.
   */
  readonly renumbered: number;
}

/** The latest epoch as the table stores it. */
interface KnownEpoch {
  readonly number: number;
  /** Undefined: delivery has never run on this shard. */
  readonly system: string | undefined;
  readonly afterPosition: number;
  /** The transaction that wrote the epoch's row on this server. */
  readonly transactionId: string;
  /** Identifier of this server. */
  readonly found: string;
}

/**
 * Resumes delivery after the shard was restored on, or moved to, another server. Rows written by this server differ
 * from copied rows: only they carry the id of the transaction that inserted them, and so do the rows of their actions.
 * Logical replication does not carry sequences, so the sequence of positions is advanced beyond every row, and rows
 * that were already written below the new epoch are renumbered. Writers wait meanwhile. Needs the rights of the table's
 * owner.
 */
export function rebase(database: ShardDatabase): Promise<Rebased> {
  return withShortLock(database, async (query) => {
    await query('LOCK TABLE eventlog.delivery_epochs, eventlog.events IN SHARE ROW EXCLUSIVE MODE');
    const rebased = await rebaseLocked(query, await readEpoch(query));
    await query(ADVANCE, [rebased.afterPosition]);
    return { shard: database.shard, ...rebased };
  });
}

async function rebaseLocked(query: Query, known: KnownEpoch): Promise<Omit<Rebased, 'shard'>> {
  const { number: epoch, afterPosition, found } = known;
  const foreign = known.system === found ? undefined : await lastForeign(query, known);
  // Where delivery has never run, the first process opens the first epoch.
  const isNew = known.system === undefined && foreign === undefined;
  if (known.system === found || isNew) {
    const renumbered = afterPosition === 0 ? 0 : await renumber(query, LOST, known);
    return { outcome: 'unchanged', epoch, afterPosition, renumbered };
  }
  // Rows before a checkpoint that is ahead of this server's transaction ids would never be read.
  if (foreign === undefined && (await query(AHEAD, [epoch])).rows.length === 0) {
    await query('UPDATE eventlog.delivery_epochs SET system_identifier = $2 WHERE epoch = $1', [
      epoch,
      found,
    ]);
    return { outcome: 'adopted', epoch, afterPosition, renumbered: 0 };
  }
  const next = { epoch: epoch + 1, afterPosition: foreign?.position ?? afterPosition };
  const { rows } = await query(
    `SELECT min(e.position)::text FROM eventlog.events AS e WHERE ${WRITTEN_HERE}`,
    [known.afterPosition, known.transactionId],
  );
  const first = rows[0]?.[0];
  // If one row must move, all do: their order is that of their models.
  const isMisplaced = typeof first === 'string' && Number(first) <= next.afterPosition;
  const renumbered = isMisplaced ? await renumber(query, WRITTEN_HERE, known) : 0;
  await query(
    'INSERT INTO eventlog.delivery_epochs (epoch, system_identifier, after_position) VALUES ($1, $2, $3)',
    [next.epoch, found, next.afterPosition],
  );
  const { text, values } = rebasedFrom(known.system, foreign?.createdDate);
  await query(text, values);
  return { outcome: 'opened', ...next, renumbered };
}

async function readEpoch(query: Query): Promise<KnownEpoch> {
  const { rows } = await query(EPOCH);
  const [epoch, system, after, transactionId, found] = rows[0] ?? [];
  return {
    number: Number(epoch ?? 1),
    system: system === null ? undefined : String(system),
    afterPosition: Number(after ?? 0),
    transactionId: String(transactionId ?? 0),
    found: String(found),
  };
}

/** The last event that another server wrote in the latest epoch; undefined if there is none. */
async function lastForeign(
  query: Query,
  { afterPosition }: KnownEpoch,
): Promise<{ readonly position: number; readonly createdDate: unknown } | undefined> {
  const { rows } = await query(FOREIGN, [afterPosition]);
  const [position, createdDate] = rows[0] ?? [];
  return typeof position === 'string' ? { position: Number(position), createdDate } : undefined;
}

/** Moves rows of this server to positions above all others, in their order. @returns the number of rows */
async function renumber(query: Query, which: string, known: KnownEpoch): Promise<number> {
  const { rowCount } = await query(renumberText(which), [known.afterPosition, known.transactionId]);
  return rowCount;
}

/*
 * Which server has inserted a row? Its column `transaction_id` keeps the id of the inserting transaction, in 64 bits.
 * PostgreSQL's own `xmin` has the lower 32 bits of the transaction that inserted the row on this server, so a copy
 * has another one. Example: epoch 1 ends at position 7; this server has copied the log and then written itself.
 *
 * | position | transaction_id | xmin | xmin of its action | the row is                                            |
 * |----------|----------------|------|--------------------|-------------------------------------------------------|
 * | 6        | 9001           | 501  | 500                | copied: another id (`FOREIGN`)                         |
 * | 7        | 500            | 500  | 499                | copied: the ids coincide, but its action is of another transaction |
 * | 8        | 502            | 502  | 502                | written here (`NATIVE`), above the epoch: it stays     |
 * | 5        | 503            | 503  | 503                | written here, at a position that was taken before: it is renumbered |
 */

/** `xmin` has 32 bits; the row of an epoch is younger than the 4 billion transactions after which they repeat. */
const EPOCH = `SELECT n.epoch, n.system_identifier, n.after_position, n.transaction_id,
  (SELECT system_identifier::text FROM pg_control_system())
FROM (SELECT pg_current_xact_id()::text::numeric AS now) AS c
LEFT JOIN LATERAL (SELECT *, (c.now - (c.now - xmin::text::numeric) % 4294967296)::text AS transaction_id
  FROM eventlog.delivery_epochs ORDER BY epoch DESC LIMIT 1) AS n ON true`;

/** True if the row carries the id of its inserting transaction, of which `xmin` has the lower 32 bits. */
const SAME_ID = 'e.xmin::text::numeric = e.transaction_id::text::numeric % 4294967296';

/** True if one transaction inserted the event and its action. A copy inserts them in two. */
const NATIVE = `CASE WHEN ${SAME_ID}
  THEN EXISTS (SELECT FROM eventlog.actions AS a WHERE a.id = e.action_id AND a.xmin = e.xmin) ELSE false END`;

/**
 * Transaction ids of two servers may coincide. Then the action's row decides, which costs one look-up each: not where no
 * row has another id, as after pg_upgrade.
 */
const FOREIGN = `SELECT max(e.position)::text, max(e.created_date)::text
FROM eventlog.events AS e WHERE e.position > $1 AND NOT (${NATIVE})
AND (SELECT true FROM eventlog.events AS e WHERE e.position > $1 AND NOT (${SAME_ID}) LIMIT 1)`;

/**
 * Rows of this server that belong to none of its earlier epochs. A log that returns to a server has such older rows,
 * too; they were written before the row of the latest epoch was copied here.
 */
const WRITTEN_HERE = `(e.position > $1 OR e.transaction_id::text::numeric > $2::numeric) AND ${NATIVE}`;

/** Rows of the current epoch that no reader of it can see. */
const LOST = `e.position <= $1 AND e.transaction_id::text::numeric > $2::numeric AND ${NATIVE}`;

const AHEAD = `SELECT FROM eventlog.consumers
WHERE epoch = $1 AND transaction_id > pg_snapshot_xmax(pg_current_snapshot()) LIMIT 1`;

const SEQUENCE = "pg_get_serial_sequence('eventlog.events', 'position')";

const COLUMNS = EVENTS.columns.map(({ name }) => name).join(', ');

/**
 * The rows get the id of the current transaction, which inserts them again. An UPDATE cannot change `GENERATED ALWAYS`.
 */
function renumberText(which: string): string {
  return `WITH top AS (SELECT greatest(max(position), $1::bigint) AS position FROM eventlog.events),
gone AS (DELETE FROM eventlog.events AS e WHERE ${which} RETURNING e.*)
INSERT INTO eventlog.events (${COLUMNS}, transaction_id, position) OVERRIDING SYSTEM VALUE
SELECT ${COLUMNS}, pg_current_xact_id(),
  (SELECT position FROM top) + row_number() OVER (ORDER BY gone.transaction_id, gone.position)
FROM gone`;
}

/** The sequence never moves back: numbers that were drawn and rolled back leave a gap. */
const ADVANCE = `SELECT setval(${SEQUENCE}, t.target)
FROM (SELECT greatest($1::bigint, (SELECT max(position) FROM eventlog.events),
  (SELECT max(position) FROM eventlog.consumers)) AS target) AS t
WHERE t.target > coalesce(pg_sequence_last_value(${SEQUENCE}::regclass), 0)`;
