import { uuidTimeMs } from '../domain/uuid.js';
import { DatabaseError } from '../errors.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import {
  DAY_MS,
  idFloor,
  nextBoundary,
  type Partition,
  type PartitionedTable,
  type PartitionState,
  partitionsAhead,
  readPartitions,
  type WantedPartitions,
} from './partitions.js';
import {
  hasState,
  inTransaction,
  type Query,
  SCAN_TIMEOUT_MS,
  statementsOn,
  withShortLock,
} from './short-transaction.js';

export interface PartitioningOptions {
  readonly now: Date;
  /** Time that one partition covers, in days. Default 7. */
  readonly partitionDays?: number;
  /** Partitions that are created before they are needed. Default 4. */
  readonly ahead?: number;
  /**
   * Maximum size of a default partition that is scanned under a lock which blocks writers, in bytes. A larger one is
   * scanned before, under a lock that blocks no writer. Default 8 MiB, which takes milliseconds.
   */
  readonly largestScanBytes?: number;
}

export const DEFAULT_PARTITION_DAYS = 7;
const LARGEST_SCAN_BYTES = 8 * 1024 * 1024;
/** If a large default partition must be checked, new partitions begin at least this much later, in milliseconds. */
const HEAD_START_MS = DAY_MS;
const CHECK = 'fw_partitions_ahead';

/**
 * No validation takes this long, in milliseconds: a constraint that will refuse rows within this time was left over.
 */
const ABANDONED_MS = 60 * 60 * 1_000;
/** Serializes the processes that create partitions, for one transaction each. */
const TURN = "SELECT pg_advisory_xact_lock(hashtextextended('fw:partitions', 0))";

/**
 * Creates the missing future partitions of the outbox and the audit trail, and attaches them with locks that block
 * writers for milliseconds. No effect if the role does not own the tables.
 *
 * @returns the names of the created partitions
 * @throws DriverFailure with 55P03 if a table stayed locked
 */
export function makePartitions(
  database: ShardDatabase,
  options: PartitioningOptions,
): Promise<readonly string[]> {
  return makeOwned(database, options, attachChecked);
}

/** As `makePartitions`, for a starting process: retention handles a table whose default partition needs a long scan. */
export function makePartitionsAtStart(database: ShardDatabase, now: Date): Promise<readonly string[]> {
  return makeOwned(database, { now }, async () => []);
}

async function makeOwned(
  database: ShardDatabase,
  options: PartitioningOptions,
  attachToLarge: typeof attachChecked,
): Promise<readonly string[]> {
  const made: string[] = [];
  const { now, partitionDays = DEFAULT_PARTITION_DAYS, ahead = 4 } = options;
  const { largestScanBytes = LARGEST_SCAN_BYTES } = options;
  const wanted = { now, partitionMs: partitionDays * DAY_MS, ahead };
  for (const state of await readPartitions(statementsOn(database))) {
    if (!state.owned) continue;
    await dropCheck(database, state.table, now.getTime() + ABANDONED_MS);
    const isLarge = state.defaultBytes > largestScanBytes;
    made.push(...(await (isLarge ? attachToLarge : attachAtOnce)(database, state, wanted)));
  }
  return made;
}

async function attachAtOnce(
  database: ShardDatabase,
  state: PartitionState,
  wanted: WantedPartitions,
): Promise<readonly string[]> {
  const next = nextBoundary(wanted.now.getTime(), wanted.partitionMs);
  const missing = partitionsAhead(state, wanted, next - wanted.partitionMs);
  if (missing.length === 0) return [];
  return withShortLock(database, async (query) => {
    await query(TURN);
    const made: string[] = [];
    for (const partition of missing)
      if (await attachIfEmpty(query, state.table, partition)) made.push(partition.name);
    return made;
  });
}

/**
 * False also if the default partition has rows of its time, which cannot move to another partition: those of the
 * current period, or of a process whose clock was wrong.
 */
async function attachIfEmpty(query: Query, table: PartitionedTable, partition: Partition): Promise<boolean> {
  await query('SAVEPOINT fw_attach');
  try {
    return await attach(query, table, partition);
  } catch (error) {
    if (!hasState(error, '23514')) throw error;
    await query('ROLLBACK TO SAVEPOINT fw_attach');
    return false;
  }
}

/**
 * Before attaching a partition, the server scans the default partition under a lock that blocks every writer, unless a
 * check constraint proves that no row has to move. Such a constraint is validated under a lock that blocks no writer.
 * While it exists, it refuses rows of the new partitions' time. That time begins a day ahead, and the constraint is
 * dropped at the end, or by the next run or start if this process does not get there.
 */
async function attachChecked(
  database: ShardDatabase,
  state: PartitionState,
  wanted: WantedPartitions,
): Promise<readonly string[]> {
  const { table } = state;
  await dropCheck(database, table, Number.POSITIVE_INFINITY);
  const earliestMs = nextBoundary(wanted.now.getTime() + HEAD_START_MS, wanted.partitionMs);
  const missing = partitionsAhead(state, wanted, earliestMs);
  const [first, last] = [missing[0], missing.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = `id < '${idFloor(first.fromMs)}' OR id >= '${idFloor(last.toMs)}'`;
  const alter = `ALTER TABLE eventlog.${table}_default`;
  try {
    await withShortLock(database, (query) =>
      query(`${alter} ADD CONSTRAINT ${CHECK} CHECK (${range}) NOT VALID`),
    );
    const validate = `${alter} VALIDATE CONSTRAINT ${CHECK}`;
    await inTransaction(database, (query) => query(validate), SCAN_TIMEOUT_MS);
    const made: string[] = [];
    for (const partition of missing)
      if (await attachProven(database, table, partition)) made.push(partition.name);
    return made;
  } finally {
    await dropCheck(database, table, Number.POSITIVE_INFINITY);
  }
}

function attachProven(
  database: ShardDatabase,
  table: PartitionedTable,
  partition: Partition,
): Promise<boolean> {
  return withShortLock(database, async (query) => {
    await query(TURN);
    await query(`LOCK TABLE eventlog.${table}_default IN ACCESS EXCLUSIVE MODE`);
    // Without the constraint the server would scan the default partition under this lock.
    const { rows } = await query(READ_CHECK, [`eventlog.${table}_default`]);
    if (rows[0]?.[0] === true) return attach(query, table, partition);
    throw new DatabaseError(
      `The constraint ${CHECK} of eventlog.${table}_default is gone: another process makes partitions. Try again later.`,
      {},
    );
  });
}

/** Drops the left-over constraint of a run, if it refuses rows from before `beforeMs`. */
async function dropCheck(database: ShardDatabase, table: PartitionedTable, beforeMs: number): Promise<void> {
  const rest = `eventlog.${table}_default`;
  const { rows } = await database.query({ text: READ_CHECK, values: [rest] });
  const [, from] = /id < '([0-9a-f-]{36})'/.exec(String(rows[0]?.[1])) ?? [];
  if (from === undefined || uuidTimeMs(from) >= beforeMs) return;
  await withShortLock(database, (query) => query(`ALTER TABLE ${rest} DROP CONSTRAINT IF EXISTS ${CHECK}`));
}

/**
 * Attaching locks the table against other partition changes, and its default partition against all access. Creating a
 * partition in one step would lock the whole table against all access. False if another process was faster.
 */
async function attach(
  query: Query,
  table: PartitionedTable,
  { name, fromMs, toMs }: Partition,
): Promise<boolean> {
  const states = await readPartitions(query);
  const existing = states.find((state) => state.table === table)?.partitions ?? [];
  if (existing.some((other) => other.fromMs < toMs && other.toMs > fromMs)) return false;
  await query(`CREATE TABLE eventlog.${name} (LIKE eventlog.${table} INCLUDING ALL EXCLUDING IDENTITY)`);
  await query(`ALTER TABLE eventlog.${table} ATTACH PARTITION eventlog.${name}
    FOR VALUES FROM ('${idFloor(fromMs)}') TO ('${idFloor(toMs)}')`);
  return true;
}

const READ_CHECK = `SELECT convalidated, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = $1::regclass AND conname = '${CHECK}'`;
