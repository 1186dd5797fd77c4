import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ValidationError } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { Rows, ShardDatabase } from '../sharding/shard-database.js';
import { type Transaction, TransactionManager } from '../sharding/transaction-manager.js';
import { idFloor, type Partition, partitionsAhead, readPartitions } from './partitions.js';

export interface RetentionOptions {
  /** How long rows are kept at least, in days: 1 or more. */
  readonly keepDays: number;
  /** Time that one partition covers, in days. Default 1. */
  readonly partitionDays?: number;
  /** Partitions that are made before they are needed. Default 7. */
  readonly ahead?: number;
  /** Whether old rows are dropped, or only partitions made. Default true. */
  readonly drop?: boolean;
}

/** What was done on one shard. */
export interface RetentionReport {
  readonly shard: ShardIdentifier;
  readonly created: readonly string[];
  readonly dropped: readonly string[];
  /** Old enough, and yet kept; says why. */
  readonly kept: readonly { readonly partition: string; readonly reason: string }[];
  /** Idempotency keys of handlers whose events are gone, and scheduled actions that ended long ago. */
  readonly deletedKeys: number;
  readonly deletedSchedules: number;
  /** The event history is complete from here on; undefined: from the beginning. */
  readonly completeFrom: Date | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Everybody waits for the lock meanwhile, so it is given up soon; the next run tries again. */
const LOCK_TIMEOUT_MS = 500;
const STATEMENT_TIMEOUT_MS = 60_000;
/** Most rows of a default partition that one transaction deletes. */
const DELETED_AT_ONCE = 10_000;

/**
 * Makes partitions ahead and drops old ones on one shard. A partition of the outbox goes only when its rows are older
 * than asked for and at least a day, every consumer's checkpoint is behind all of them, and no replication slot can
 * still need them. What lies in the default partition, from the time before retention was switched on, is deleted by
 * the same rules. Needs the rights of the tables' owner.
 *
 * @throws ValidationError for options that make no sense
 */
export async function retain(
  database: ShardDatabase,
  options: RetentionOptions,
  now: Date,
): Promise<RetentionReport> {
  const { keepDays, partitionDays = 1, ahead = 7, drop = true } = options;
  if (!(keepDays >= 1 && partitionDays > 0 && ahead >= 1)) {
    throw new ValidationError(
      'Retention keeps at least one day, in partitions of more than no time, at least one ahead',
    );
  }
  const created: string[] = [];
  const dropped: string[] = [];
  const kept: { partition: string; reason: string }[] = [];
  const limitMs = now.getTime() - Math.max(keepDays, 1) * DAY_MS;
  for (const table of ['events', 'actions'] as const) {
    const partitions = await readPartitions(database, table);
    for (const partition of partitionsAhead(table, partitions, {
      now,
      partitionMs: partitionDays * DAY_MS,
      ahead,
    })) {
      await createPartition(database, table, partition);
      created.push(partition.name);
    }
    if (!drop) continue;
    for (const partition of partitions.filter(({ toMs }) => toMs <= limitMs)) {
      const reason = await tryDrop(database, table, partition);
      if (reason === undefined) dropped.push(partition.name);
      else kept.push({ partition: partition.name, reason });
    }
    const rest = { name: `${table}_default`, fromMs: 0, toMs: Math.floor(limitMs / DAY_MS) * DAY_MS };
    const emptied = await emptyDefault(database, table, rest);
    if (emptied.deleted > 0) dropped.push(rest.name);
    if (emptied.reason !== undefined) kept.push({ partition: rest.name, reason: emptied.reason });
  }
  const completeFrom = await readCompleteFrom(database);
  return {
    shard: database.shard,
    created,
    dropped,
    kept,
    deletedKeys: drop && completeFrom !== undefined ? await deleteKeys(database, completeFrom) : 0,
    deletedSchedules: drop ? await deleteSchedules(database, new Date(limitMs)) : 0,
    completeFrom,
  };
}

/** From when on the event history of a shard is complete; undefined: from the beginning. */
export async function readCompleteFrom(database: ShardDatabase): Promise<Date | undefined> {
  const { rows } = await database.query({
    text: 'SELECT max(dropped_until) FROM eventlog.dropped_partitions WHERE table_name = $1',
    values: ['events'],
  });
  const value = rows[0]?.[0];
  return value instanceof Date ? value : undefined;
}

async function createPartition(
  database: ShardDatabase,
  table: string,
  { name, fromMs, toMs }: Partition,
): Promise<void> {
  await inShortTransaction(database, (query) =>
    query(`CREATE TABLE IF NOT EXISTS eventlog.${name} PARTITION OF eventlog.${table}
      FOR VALUES FROM ('${idFloor(fromMs)}') TO ('${idFloor(toMs)}')`),
  );
}

/** Why the partition stays; undefined if it is gone. What is decided on cannot change before the drop: it is locked. */
async function tryDrop(
  database: ShardDatabase,
  table: string,
  partition: Partition,
): Promise<string | undefined> {
  try {
    return await inShortTransaction(database, async (query) => {
      await query(`LOCK TABLE eventlog.${partition.name} IN ACCESS EXCLUSIVE MODE`);
      const reason =
        table === 'events' ? await neededBy(query, partition) : await neededByEvents(query, partition);
      if (reason !== undefined) return reason;
      await query(`DROP TABLE eventlog.${partition.name}`);
      await query(
        'INSERT INTO eventlog.dropped_partitions (table_name, partition_name, dropped_until) VALUES ($1, $2, $3)',
        [table, partition.name, new Date(partition.toMs).toISOString()],
      );
      return undefined;
    });
  } catch (error) {
    if (error instanceof DriverFailure && error.sqlState === '55P03') return 'it is in use right now';
    throw error;
  }
}

/** Deletes the old rows of a default partition, which cannot be dropped. Nobody waits for a lock meanwhile. */
async function emptyDefault(
  database: ShardDatabase,
  table: string,
  partition: Partition,
): Promise<{ readonly deleted: number; readonly reason: string | undefined }> {
  const { name, toMs } = partition;
  for (let deleted = 0; ; ) {
    const found = await inShortTransaction(database, async (query) => {
      const any = await query(`SELECT FROM eventlog.${name} WHERE id < $1 LIMIT 1`, [idFloor(toMs)]);
      if (any.rows.length === 0) return { deleted: 0, reason: undefined };
      const reason =
        table === 'events' ? await neededBy(query, partition) : await neededByEvents(query, partition);
      if (reason !== undefined) return { deleted: 0, reason };
      const { rowCount } = await query(
        `DELETE FROM eventlog.${name} WHERE id IN (SELECT id FROM eventlog.${name} WHERE id < $1 ORDER BY id LIMIT $2)`,
        [idFloor(toMs), DELETED_AT_ONCE],
      );
      await query(
        `INSERT INTO eventlog.dropped_partitions (table_name, partition_name, dropped_until) VALUES ($1, $2, $3)
          ON CONFLICT (partition_name) DO UPDATE SET dropped_until = excluded.dropped_until, dropped_date = now()`,
        [table, name, new Date(toMs).toISOString()],
      );
      return { deleted: rowCount, reason: undefined };
    });
    deleted += found.deleted;
    if (found.deleted === 0) return { deleted, reason: found.reason };
  }
}

type Query = (text: string, values?: readonly unknown[]) => Promise<Rows>;

async function neededBy(query: Query, { name, toMs }: Partition): Promise<string | undefined> {
  const until = idFloor(toMs);
  const consumers = await query(
    `SELECT c.name FROM eventlog.consumers AS c
    WHERE c.kind <> 'schedules' AND c.finished_date IS NULL
      AND (c.epoch < (SELECT max(epoch) FROM eventlog.delivery_epochs)
        OR EXISTS (SELECT FROM eventlog.${name} AS e WHERE (e.transaction_id, e.position) > (c.transaction_id, c.position)
          AND e.id < $1
          AND e.position > (SELECT after_position FROM eventlog.delivery_epochs ORDER BY epoch DESC LIMIT 1)))`,
    [until],
  );
  const [consumer] = consumers.rows;
  if (consumer !== undefined) return `${String(consumer[0])} has not handled all of it`;
  const young = await query(
    `SELECT FROM eventlog.${name} WHERE id < $1 AND created_date > now() - interval '1 day' LIMIT 1`,
    [until],
  );
  if (young.rows.length > 0) return 'some rows are younger than a day';
  // The first look notes where the log stood when the partition was complete; a slot must have passed that place.
  const mark = `${name} until ${until}`;
  await query(
    'INSERT INTO eventlog.partition_marks (partition_name, lsn) VALUES ($1, pg_current_wal_lsn()) ON CONFLICT DO NOTHING',
    [mark],
  );
  const slots = await query(
    `SELECT s.slot_name FROM pg_replication_slots AS s, eventlog.partition_marks AS m
      WHERE m.partition_name = $1 AND s.slot_type = 'logical' AND s.database = current_database()
        AND (s.confirmed_flush_lsn IS NULL OR s.confirmed_flush_lsn < m.lsn)`,
    [mark],
  );
  const [slot] = slots.rows;
  return slot === undefined ? undefined : `replication slot ${String(slot[0])} has not passed it`;
}

/** Actions are what envelopes and audits refer to: they outlive their events. */
async function neededByEvents(query: Query, { toMs }: Partition): Promise<string | undefined> {
  const { rows } = await query('SELECT FROM eventlog.events WHERE id < $1 AND action_id < $1 LIMIT 1', [
    idFloor(toMs),
  ]);
  return rows.length > 0 ? 'events of its actions are still there' : undefined;
}

async function deleteKeys(database: ShardDatabase, before: Date): Promise<number> {
  const { rowCount } = await database.query(
    {
      text: 'DELETE FROM eventlog.idempotency_keys WHERE key COLLATE "C" >= $1 AND key COLLATE "C" < $2',
      values: ['handler ', `handler ${idFloor(before.getTime())}`],
    },
    { timeoutMs: STATEMENT_TIMEOUT_MS },
  );
  return rowCount;
}

async function deleteSchedules(database: ShardDatabase, before: Date): Promise<number> {
  const { rows } = await database.query(
    {
      text: `WITH gone AS (DELETE FROM eventlog.schedules WHERE state IN ('done', 'cancelled') AND completed_date < $1 RETURNING id, principal, action_name),
k AS (DELETE FROM eventlog.idempotency_keys AS k USING gone
  WHERE k.principal = gone.principal AND k.operation = gone.action_name AND k.key = 'schedule ' || gone.id)
SELECT count(*) FROM gone`,
      values: [before.toISOString()],
    },
    { timeoutMs: STATEMENT_TIMEOUT_MS },
  );
  return Number(rows[0]?.[0] ?? 0);
}

function inShortTransaction<T>(database: ShardDatabase, work: (query: Query) => Promise<T>): Promise<T> {
  const limits = { timeoutMs: STATEMENT_TIMEOUT_MS };
  return new TransactionManager(database).transaction(async (transaction: Transaction) => {
    const query: Query = (text, values = []) => transaction.query({ text, values }, limits);
    await query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    return work(query);
  }, limits);
}
