import { isTooLong, leaseEnd } from '../sharding/lease-sql.js';
import type { ShardDatabase } from '../sharding/shard-database.js';

/** A lease on a task that one process at a time does on a shard. */
export interface MaintenanceLease {
  readonly task: string;
  readonly holder: string;
  /** Increases with each lease: statements of an earlier holder have no effect. */
  readonly fence: string;
}

export interface LeaseRequest {
  readonly task: string;
  /** Unique among all processes. */
  readonly holder: string;
  /** Duration unless renewed, in milliseconds. */
  readonly leaseMs: number;
  /** Minimum time between the ends of two leases, in milliseconds. */
  readonly everyMs: number;
}

/** Takes the lease of a task that is due. Undefined: another process has it, or has had it recently. */
export async function takeLease(
  database: ShardDatabase,
  { task, holder, leaseMs, everyMs }: LeaseRequest,
): Promise<MaintenanceLease | undefined> {
  const { rows } = await database.query({ text: TAKE, values: [task, holder, leaseMs, everyMs] });
  const [row] = rows;
  return row === undefined ? undefined : { task, holder, fence: String(row[0]) };
}

/** False if the lease has been lost. */
export async function renewLease(
  database: ShardDatabase,
  { task, holder, fence }: MaintenanceLease,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await database.query({ text: RENEW, values: [task, holder, fence, leaseMs] });
  return rowCount > 0;
}

/** Releases a lease. @param isDone whether the task is done until the next interval */
export async function releaseLease(
  database: ShardDatabase,
  { task, holder, fence }: MaintenanceLease,
  isDone: boolean,
): Promise<void> {
  await database.query({ text: END, values: [task, holder, fence, isDone] });
}

/** When a task was last finished on this shard; undefined: never. */
export async function lastDone(database: ShardDatabase, task: string): Promise<Date | undefined> {
  const { rows } = await database.query({ text: LAST, values: [task] });
  const value = rows[0]?.[0];
  return value instanceof Date ? value : undefined;
}

/** A lease that a clock which was set back has made too long counts as ended: a run may be repeated. */
const TAKE = `INSERT INTO eventlog.maintenance AS m (task, holder, fence, leased_until)
VALUES ($1, $2, 1, ${leaseEnd('$3::bigint')})
ON CONFLICT (task) DO UPDATE SET holder = excluded.holder, fence = m.fence + 1, leased_until = excluded.leased_until
WHERE (m.leased_until IS NULL OR m.leased_until < clock_timestamp() OR ${isTooLong('m.leased_until', '$3::bigint')})
  AND (m.done_date IS NULL OR m.done_date NOT BETWEEN clock_timestamp() - $4::bigint * interval '1 ms' AND clock_timestamp())
RETURNING fence`;

const RENEW = `UPDATE eventlog.maintenance SET leased_until = ${leaseEnd('$4::bigint')}
WHERE task = $1 AND holder = $2 AND fence = $3`;

const END = `UPDATE eventlog.maintenance SET leased_until = NULL, holder = NULL,
  done_date = CASE WHEN $4::boolean THEN clock_timestamp() ELSE done_date END
WHERE task = $1 AND holder = $2 AND fence = $3`;

const LAST = 'SELECT done_date FROM eventlog.maintenance WHERE task = $1';
