import { uuidTimeMs } from '../domain/uuid.js';
import type { Query } from './short-transaction.js';

/** The tables that are partitioned by the time of their ids. */
export type PartitionedTable = 'events' | 'actions';

export const DAY_MS: number = 24 * 60 * 60 * 1_000;

/** A partition by id range: the first six bytes of a version 7 id are its time in milliseconds. */
export interface Partition {
  /** Without the schema name. */
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface PartitionState {
  readonly table: PartitionedTable;
  /** Whether this role may create and drop partitions: it owns the table. */
  readonly owned: boolean;
  /** Partitions by time, without the default one; oldest first. */
  readonly partitions: readonly Partition[];
  /** Size of the default partition. */
  readonly defaultBytes: number;
}

/** The lowest possible id of a millisecond since 1970, as text. Not an id itself, but below each id of that time. */
export function idFloor(milliseconds: number): string {
  const time = Math.max(0, Math.floor(milliseconds)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

export async function readPartitions(query: Query): Promise<readonly PartitionState[]> {
  const { rows } = await query(PARTITIONS);
  return rows.map(([table, owned, defaultBytes, partitions]) => ({
    table: table === 'events' ? 'events' : 'actions',
    owned: owned === true,
    defaultBytes: Number(defaultBytes),
    partitions: ((partitions ?? []) as readonly (readonly [string, string])[])
      .flatMap(([name, bounds]) => toPartition(name, bounds))
      .sort((a, b) => a.fromMs - b.fromMs),
  }));
}

function toPartition(name: string, bounds: string): readonly Partition[] {
  const [, from, to] = BOUNDS.exec(bounds) ?? [];
  if (from === undefined || to === undefined) return [];
  return [{ name, fromMs: uuidTimeMs(from), toMs: uuidTimeMs(to) }];
}

const PARTITIONS = `SELECT t.name, pg_has_role(p.relowner, 'USAGE'),
  pg_relation_size(to_regclass('eventlog.' || t.name || '_default')),
  (SELECT jsonb_agg(jsonb_build_array(c.relname, pg_get_expr(c.relpartbound, c.oid)))
   FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = p.oid)
FROM (VALUES (1, 'events'), (2, 'actions')) AS t(nr, name)
JOIN pg_class AS p ON p.oid = to_regclass('eventlog.' || t.name) ORDER BY t.nr`;
const BOUNDS = /FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)/;
