import { uuidTimeMs } from '../domain/uuid.js';
import type { ShardDatabase } from '../sharding/shard-database.js';

/** A partition by id range: the first six bytes of a version 7 id are its time in milliseconds. */
export interface Partition {
  /** Without the schema. */
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The lowest id of a millisecond, as text: not an id itself, but below each of that time. */
export function idFloor(milliseconds: number): string {
  const time = Math.floor(milliseconds).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** The partitions of a table that were made by time, the default one aside; oldest first. */
export async function readPartitions(database: ShardDatabase, table: string): Promise<readonly Partition[]> {
  const { rows } = await database.query({ text: PARTITIONS, values: [`eventlog.${table}`] });
  const partitions = rows.flatMap(([name, bounds]) => {
    const match = BOUNDS.exec(String(bounds));
    const [, from, to] = match ?? [];
    return from === undefined || to === undefined
      ? []
      : [{ name: String(name), fromMs: uuidTimeMs(from), toMs: uuidTimeMs(to) }];
  });
  return partitions.sort((a, b) => a.fromMs - b.fromMs);
}

/**
 * The partitions to be made so that there are enough from now on. The first one begins with the next full period: rows
 * of the running one lie in the default partition, which they could not leave.
 */
export function partitionsAhead(
  table: string,
  existing: readonly Partition[],
  { now, partitionMs, ahead }: { readonly now: Date; readonly partitionMs: number; readonly ahead: number },
): readonly Partition[] {
  const next = Math.ceil((now.getTime() + 1) / partitionMs) * partitionMs;
  let fromMs = Math.max(next, ...existing.map(({ toMs }) => toMs));
  const last = next + ahead * partitionMs;
  const made: Partition[] = [];
  while (fromMs < last) {
    const toMs = fromMs + partitionMs;
    made.push({ name: `${table}_${stamp(fromMs)}`, fromMs, toMs });
    fromMs = toMs;
  }
  return made;
}

const PARTITIONS = `SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits AS i
JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass`;
const BOUNDS = /FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)/;

/** `20260131t000000`: UTC, to the second. */
function stamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace(/[-:]/g, '').toLowerCase();
}
