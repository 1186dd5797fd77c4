import { sleep } from '../concurrency/time.js';
import { uuidTimeMs } from '../domain/uuid.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { eventsNeededBy, hasYoungRows, haveEvents, noteLogPosition, TURN_OF_REPLAYS } from './needs.js';
import { DAY_MS, idFloor, type Partition, type PartitionedTable, type PartitionState } from './partitions.js';
import { hasState, inTransaction, isLocked, type Query, statementsOn } from './short-transaction.js';

export interface DroppedPartitions {
  readonly dropped: readonly string[];
  /** Partitions that are old enough but were kept, each with the reason. */
  readonly kept: readonly { readonly partition: string; readonly reason: string }[];
}

export interface DropOptions {
  /** Rows with ids older than this may be deleted. */
  readonly limitMs: number;
  /** Actions that the journal needs; undefined if a shard did not answer. */
  readonly openActions: readonly string[] | undefined;
}

/** Maximum rows that one transaction deletes. */
export const DELETED_AT_ONCE = 10_000;
const LOCK_ATTEMPTS = 10;
const LOCK_PAUSE_MS = 100;

/** Drops old partitions of a table that are no longer needed, and deletes such rows of its default partition. */
export async function dropPartitions(
  database: ShardDatabase,
  { table, partitions }: PartitionState,
  options: DropOptions,
): Promise<DroppedPartitions> {
  const dropped: string[] = [];
  const kept: { partition: string; reason: string }[] = [];
  for (const partition of partitions.filter((each) => isOldEnough(table, each, options.limitMs))) {
    const reason = await tryDrop(database, table, partition, options);
    if (reason === undefined) dropped.push(partition.name);
    else if (reason !== GONE) kept.push({ partition: partition.name, reason });
  }
  const toMs = Math.floor(options.limitMs / DAY_MS) * DAY_MS;
  const rest = { name: `${table}_default`, fromMs: 0, toMs };
  const emptied = await emptyDefault(database, table, rest, options);
  if (emptied.deleted > 0) dropped.push(rest.name);
  if (emptied.reason !== undefined) kept.push({ partition: rest.name, reason: emptied.reason });
  return { dropped, kept };
}

/** An action may have events in the next partition, so action partitions are kept for one more period. */
function isOldEnough(table: PartitionedTable, { fromMs, toMs }: Partition, limitMs: number): boolean {
  return (table === 'events' ? toMs : toMs + (toMs - fromMs)) <= limitMs;
}

/** Another process has dropped it meanwhile. */
const GONE = 'it no longer exists';

/**
 * Drops a partition. Returns the reason why it stays; undefined if it is gone. While its rows are read, the partition
 * is locked against inserts, which do not occur in old ones. Only the drop itself needs a lock that other transactions
 * wait for.
 */
async function tryDrop(
  database: ShardDatabase,
  table: PartitionedTable,
  partition: Partition,
  options: DropOptions,
): Promise<string | undefined> {
  try {
    // In its own transaction: a transaction with a write would hold back delivery during the check.
    if (table === 'events') await noteLogPosition(statementsOn(database), partition);
    return await inTransaction(database, async (query) => {
      await query(`LOCK TABLE eventlog.${partition.name} IN SHARE MODE`);
      const reason = await neededBy(query, table, partition, options);
      if (reason !== undefined) return reason;
      if (table === 'events' && (await hasYoungRows(query, partition)))
        return 'some rows are younger than a day';
      const late = await neededInTurn(query, table, partition, options);
      if (late !== undefined) return late;
      await drop(query, partition);
      await noteDropped(query, table, partition);
      return undefined;
    });
  } catch (error) {
    if (isLocked(error)) return 'it is in use';
    if (hasState(error, '42P01')) return GONE;
    throw error;
  }
}

/** As `neededBy`. From here to the end of the transaction, no replay is ordered. */
async function neededInTurn(query: Query, ...rest: NeededIn): Promise<string | undefined> {
  await query(`SELECT ${TURN_OF_REPLAYS}`);
  return neededBy(query, ...rest);
}

type NeededIn = [table: PartitionedTable, partition: Partition, options: DropOptions];

async function neededBy(
  query: Query,
  ...[table, partition, { openActions }]: NeededIn
): Promise<string | undefined> {
  if (table === 'events') return eventsNeededBy(query, partition);
  if (await haveEvents(query, partition)) return 'events of its actions still exist';
  if (openActions === undefined) return 'the journal of a shard cannot be read';
  const { fromMs, toMs } = partition;
  const isOpen = openActions.map(uuidTimeMs).some((timeMs) => timeMs >= fromMs && timeMs < toMs);
  return isOpen ? 'cross-shard plans that are not closed refer to its actions' : undefined;
}

/** A lock on the table itself blocks every writer, so it is requested briefly, several times. */
async function drop(query: Query, { name }: Partition): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await query('SAVEPOINT fw_drop');
    try {
      await query(`DROP TABLE eventlog.${name}`);
      return;
    } catch (error) {
      if (!isLocked(error) || attempt === LOCK_ATTEMPTS) throw error;
      await query('ROLLBACK TO SAVEPOINT fw_drop');
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

/** Deletes the old rows of a default partition, which cannot be dropped. No writer waits for a lock meanwhile. */
async function emptyDefault(
  database: ShardDatabase,
  table: PartitionedTable,
  partition: Partition,
  options: DropOptions,
): Promise<{ readonly deleted: number; readonly reason: string | undefined }> {
  const any = await statementsOn(database)(`SELECT FROM eventlog.${partition.name} WHERE id < $1 LIMIT 1`, [
    idFloor(partition.toMs),
  ]);
  if (any.rows.length === 0) return { deleted: 0, reason: undefined };
  if (table === 'events') await noteLogPosition(statementsOn(database), partition);
  const isOld = table === 'events' ? "AND created_date <= now() - interval '1 day'" : '';
  for (let deleted = 0; ; ) {
    const found = await inTransaction(database, async (query) => {
      const reason = await neededInTurn(query, table, partition, options);
      if (reason !== undefined) return { deleted: 0, reason };
      const { rowCount } = await query(
        `DELETE FROM eventlog.${partition.name} WHERE id IN
          (SELECT id FROM eventlog.${partition.name} WHERE id < $1 ${isOld} ORDER BY id LIMIT $2)`,
        [idFloor(partition.toMs), DELETED_AT_ONCE],
      );
      if (rowCount > 0) await noteDropped(query, table, partition);
      return { deleted: rowCount, reason: undefined };
    });
    deleted += found.deleted;
    if (found.deleted < DELETED_AT_ONCE) return { deleted, reason: found.reason };
  }
}

async function noteDropped(query: Query, table: PartitionedTable, { name, toMs }: Partition): Promise<void> {
  await query(
    `INSERT INTO eventlog.dropped_partitions (table_name, partition_name, dropped_until) VALUES ($1, $2, $3)
      ON CONFLICT (partition_name) DO UPDATE SET dropped_until = excluded.dropped_until, dropped_date = now()`,
    [table, name, new Date(toMs).toISOString()],
  );
}
