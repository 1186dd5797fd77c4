import type { ShardDatabase } from '../sharding/shard-database.js';
import {
  DAY_MS,
  idFloor,
  type Partition,
  type PartitionedTable,
  type PartitionState,
  readPartitions,
} from './partitions.js';
import { hasState, type Query, statementsOn, withShortLock } from './short-transaction.js';

export interface PartitioningOptions {
  readonly now: Date;
  /** Time that one partition covers, in days. Default 7. */
  readonly partitionDays?: number;
  /** Partitions that are created before they are needed. Default 4. */
  readonly ahead?: number;
  /** Maximum size of a default partition that is scanned while writers wait, in bytes. Default: none. */
  readonly largestScanBytes?: number | undefined;
}

export interface MadePartitions {
  readonly created: readonly string[];
  /** Default partitions that are too large, with the reason why no partition was created beside them. */
  readonly skipped: readonly { readonly partition: string; readonly reason: string }[];
}

export const DEFAULT_PARTITION_DAYS = 7;
/** A default partition of this size, in bytes, is scanned in milliseconds. */
export const LARGEST_UNNOTICED_SCAN: number = 8 * 1024 * 1024;

/** Serializes the processes that create partitions, for one transaction each. */
const TURN = "SELECT pg_advisory_xact_lock(hashtextextended('fw:partitions', 0))";

/**
 * Creates the missing future partitions of the outbox and the audit trail. No effect if the role does not own the
 * tables. The server scans the default partition before, while writers wait for it. It is small unless partitions were
 * missing for long.
 *
 * @throws DriverFailure with 55P03 if a table stayed locked
 */
export async function makePartitions(
  database: ShardDatabase,
  options: PartitioningOptions,
): Promise<MadePartitions> {
  const { largestScanBytes = Number.POSITIVE_INFINITY } = options;
  const missingIn = (state: PartitionState): readonly Partition[] => partitionsAhead(state, options);
  const created: string[] = [];
  const skipped: MadePartitions['skipped'][number][] = [];
  for (const state of await readPartitions(statementsOn(database))) {
    const { table, owned, defaultBytes } = state;
    if (!owned || missingIn(state).length === 0) continue;
    if (defaultBytes > largestScanBytes)
      skipped.push({ partition: `${table}_default`, reason: tooLarge(defaultBytes) });
    else created.push(...(await attachAll(database, table, missingIn)));
  }
  return { created, skipped };
}

/** The partitions to create so that there are enough from now on. Older rows are in the default partition. */
function partitionsAhead(
  { table, partitions }: PartitionState,
  { now, partitionDays = DEFAULT_PARTITION_DAYS, ahead = 4 }: PartitioningOptions,
): readonly Partition[] {
  const partitionMs = partitionDays * DAY_MS;
  const presentMs = Math.floor(now.getTime() / partitionMs) * partitionMs;
  const made: Partition[] = [];
  let fromMs = Math.max(presentMs, ...partitions.map(({ toMs }) => toMs));
  while (fromMs < presentMs + (ahead + 1) * partitionMs) {
    const toMs = fromMs + partitionMs;
    made.push({ name: `${table}_${stamp(fromMs)}`, fromMs, toMs });
    fromMs = toMs;
  }
  return made;
}

/** `20260131t000000`: UTC, to the second. */
function stamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace(/[-:]/g, '').toLowerCase();
}

function tooLarge(bytes: number): string {
  return (
    `its ${Math.ceil(bytes / 1e6)} MB are scanned while writers wait when partitions are created: ` +
    'run fw-gen events retain at a quiet time'
  );
}

/** @param missingIn the partitions to create; another process may have created some of them meanwhile */
function attachAll(
  database: ShardDatabase,
  table: PartitionedTable,
  missingIn: (state: PartitionState) => readonly Partition[],
): Promise<readonly string[]> {
  return withShortLock(database, async (query) => {
    await query(TURN);
    const state = (await readPartitions(query)).find((each) => each.table === table);
    const made: string[] = [];
    for (const partition of state === undefined ? [] : missingIn(state))
      if (await attachIfEmpty(query, table, partition)) made.push(partition.name);
    return made;
  });
}

/**
 * False if the default partition has rows of its time, which cannot move to another partition: those of the current
 * period, or of a process whose clock was wrong.
 */
async function attachIfEmpty(query: Query, table: PartitionedTable, partition: Partition): Promise<boolean> {
  const { name, fromMs, toMs } = partition;
  await query('SAVEPOINT fw_attach');
  try {
    // Attaching locks the table against other partition changes, and its default partition against all access. Creating
    // a partition in one step would lock the whole table against all access.
    await query(`CREATE TABLE eventlog.${name} (LIKE eventlog.${table} INCLUDING ALL EXCLUDING IDENTITY)`);
    await query(`ALTER TABLE eventlog.${table} ATTACH PARTITION eventlog.${name}
      FOR VALUES FROM ('${idFloor(fromMs)}') TO ('${idFloor(toMs)}')`);
    return true;
  } catch (error) {
    if (!hasState(error, '23514')) throw error;
    await query('ROLLBACK TO SAVEPOINT fw_attach');
    return false;
  }
}
