import { isTooLong, leaseEnd } from '../sharding/lease-sql.js';
import type { ShardDatabase } from '../sharding/shard-database.js';

/** The lease of the process that maintains a shard. */
export interface MaintenanceLease {
  readonly holder: string;
  /** Increases with each lease: statements of an earlier holder have no effect. */
  readonly fence: string;
}

export interface LeaseRequest {
  /** Unique among all processes. */
  readonly holder: string;
  /** Duration unless renewed, in milliseconds. */
  readonly leaseMs: number;
  /** Minimum time between the ends of two leases, in milliseconds. */
  readonly everyMs: number;
}

/** Takes the lease if maintenance is due. Undefined: another process has it, or has had it recently. */
export async function takeLease(
  database: ShardDatabase,
  { holder, leaseMs, everyMs }: LeaseRequest,
): Promise<MaintenanceLease | undefined> {
  const { rows } = await database.query({ text: TAKE, values: [holder, leaseMs, everyMs] });
  const [row] = rows;
  return row === undefined ? undefined : { holder, fence: String(row[0]) };
}

/** No effect if the lease has been lost. */
export async function renewLease(
  database: ShardDatabase,
  { holder, fence }: MaintenanceLease,
  leaseMs: number,
): Promise<void> {
  await database.query({ text: RENEW, values: [holder, fence, leaseMs] });
}

/** Releases a lease. @param isDone whether the shard is maintained until the next interval */
export async function releaseLease(
  database: ShardDatabase,
  { holder, fence }: MaintenanceLease,
  isDone: boolean,
): Promise<void> {
  await database.query({ text: END, values: [holder, fence, isDone] });
}

/** When maintenance of this shard was last finished; undefined: never. */
export async function lastDone(database: ShardDatabase): Promise<Date | undefined> {
  const { rows } = await database.query({ text: LAST, values: [] });
  const value = rows[0]?.[0];
  return value instanceof Date ? value : undefined;
}

/** A lease that a clock which was set back has made too long counts as ended: a run may be repeated. */
const TAKE = `INSERT INTO eventlog.maintenance AS m (task, holder, fence, leased_until)
VALUES ('retention', $1, 1, ${leaseEnd('$2::bigint')})
ON CONFLICT (task) DO UPDATE SET holder = excluded.holder, fence = m.fence + 1, leased_until = excluded.leased_until
WHERE (m.leased_until IS NULL OR m.leased_until < clock_timestamp() OR ${isTooLong('m.leased_until', '$2::bigint')})
  AND (m.done_date IS NULL OR m.done_date NOT BETWEEN clock_timestamp() - $3::bigint * interval '1 ms' AND clock_timestamp())
RETURNING fence`;

const HELD = "task = 'retention' AND holder = $1 AND fence = $2";

const RENEW = `UPDATE eventlog.maintenance SET leased_until = ${leaseEnd('$3::bigint')} WHERE ${HELD}`;

const END = `UPDATE eventlog.maintenance SET leased_until = NULL, holder = NULL,
  done_date = CASE WHEN $3::boolean THEN clock_timestamp() ELSE done_date END WHERE ${HELD}`;

const LAST = "SELECT done_date FROM eventlog.maintenance WHERE task = 'retention'";
