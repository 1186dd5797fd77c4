import { INTERNAL_ACCESS } from '../sharding/internal-access.js';
import { isTooLong, leaseEnd } from '../sharding/lease-sql.js';
import type { CallOptions, ShardDatabase } from '../sharding/shard-database.js';

/** Identifies one acquisition of a lock. */
export interface LockClaim {
  readonly name: string;
  /** A UUID that is unique to this acquisition. */
  readonly owner: string;
}

/** Time limit of each statement, even if the caller does not wait. */
const LIMIT = { timeoutMs: 2_000 };

/**
 * The table `eventlog.locks` of one shard. A lock is a row with an owner and an expiry by the server's clock; it needs
 * no session, so it goes through any pooled connection and any pooler. Each method is one statement.
 */
export class LockStore {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** The fencing token, or undefined if the lock has another holder. Idempotent. @throws DriverFailure */
  async acquire({ name, owner }: LockClaim, holdMs: number): Promise<bigint | undefined> {
    const { rows } = await this.#database.query({ ...ACQUIRE, values: [name, owner, holdMs] }, LIMIT);
    const [row] = rows;
    return row === undefined ? undefined : BigInt(String(row[0]));
  }

  /** False if the lock is lost. @throws DriverFailure */
  async extend({ name, owner }: LockClaim, holdMs: number): Promise<boolean> {
    const { rowCount } = await this.#database.query({ ...EXTEND, values: [name, owner, holdMs] }, LIMIT);
    return rowCount > 0;
  }

  /** @throws DriverFailure */
  async release({ name, owner }: LockClaim): Promise<void> {
    await this.#database.query({ ...RELEASE, values: [name, owner] }, LIMIT);
  }

  /** Whether the lock is currently held under this token. @throws DriverFailure */
  async verify(name: string, token: bigint): Promise<boolean> {
    const statement = { ...VERIFY, values: [name, String(token)] };
    const { rowCount } = await this.#database.query(statement, { ...LIMIT, access: INTERNAL_ACCESS });
    return rowCount > 0;
  }

  /** Deletes rows of locks that were unused for a day. Returns their number. @throws DriverFailure */
  async purge(limit: number, options: CallOptions): Promise<number> {
    const { rowCount } = await this.#database.query({ ...PURGE, values: [limit] }, options);
    return rowCount;
  }
}

const HELD = 'owner IS NOT NULL AND expires_date > clock_timestamp()';
const EXPIRY = leaseEnd('$3::int');

/** SQL that returns the token while the lock is held: see `lockCondition`. */
export function heldUnder(name: string, token: string): string {
  return `FROM eventlog.locks WHERE name = ${name} AND token = ${token} AND ${HELD}`;
}

/**
 * A request for a held lock costs only reads. The first token of a name is the server's time in microseconds, so
 * tokens keep increasing after the row was purged.
 */
const ACQUIRE = {
  name: 'fw_lock_acquire',
  text:
    `WITH cut AS (UPDATE eventlog.locks SET expires_date = ${leaseEnd('hold_ms')} ` +
    `WHERE name = $1 AND owner <> $2::uuid AND ${isTooLong('expires_date', 'hold_ms')}) ` +
    'INSERT INTO eventlog.locks AS l (name, owner, token, expires_date, hold_ms) ' +
    `SELECT $1, $2::uuid, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, ${EXPIRY}, $3::int ` +
    `WHERE NOT EXISTS (SELECT FROM eventlog.locks WHERE name = $1 AND owner <> $2::uuid AND ${HELD}) ` +
    'ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_date = excluded.expires_date, ' +
    'hold_ms = excluded.hold_ms, ' +
    'token = CASE WHEN l.owner = excluded.owner THEN l.token ELSE greatest(l.token + 1, excluded.token) END ' +
    'WHERE l.owner IS NULL OR l.owner = excluded.owner OR l.expires_date <= clock_timestamp() RETURNING token',
};

const EXTEND = {
  name: 'fw_lock_extend',
  text: `UPDATE eventlog.locks SET expires_date = ${EXPIRY}, hold_ms = $3::int WHERE name = $1 AND owner = $2::uuid AND ${HELD}`,
};

const RELEASE = {
  name: 'fw_lock_release',
  text:
    'UPDATE eventlog.locks SET owner = NULL, expires_date = clock_timestamp() ' +
    'WHERE name = $1 AND owner = $2::uuid',
};

const VERIFY = { name: 'fw_lock_verify', text: `SELECT 1 ${heldUnder('$1', '$2::bigint')}` };

const PURGE = {
  name: 'fw_lock_purge',
  text:
    'DELETE FROM eventlog.locks WHERE ctid = ANY (ARRAY(SELECT ctid FROM eventlog.locks ' +
    "WHERE expires_date <= clock_timestamp() - interval '1 day' ORDER BY expires_date LIMIT $1 FOR UPDATE SKIP LOCKED))",
};
