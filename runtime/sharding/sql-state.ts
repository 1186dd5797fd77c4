import type { ServerError } from './driver-failure.js';

/**
 * The meaning of an SQLSTATE for an execution. `docs/outcomes.md` shows the same table. Source: PostgreSQL's appendix
 * "Error Codes".
 *
 * - `transient`: the attempt lost against concurrent work and may be run again with fresh reads.
 * - `locked`: as `transient`, because a lock was not granted in time.
 * - `unique`, `constraint`: the server refuses the rows; another attempt would fail too.
 * - `unavailable`: the server is starting, stopping, read-only or gone.
 * - `saturated`: the server has no connection or memory to spare.
 * - `other`: a fault of the statement or the schema.
 */
export type SqlStateMeaning =
  | 'transient'
  | 'locked'
  | 'unique'
  | 'constraint'
  | 'value'
  | 'unavailable'
  | 'saturated'
  | 'other';

/** Codes whose meaning differs from that of their class. */
export const SQL_STATE_CODES: Readonly<Record<string, SqlStateMeaning>> = {
  '40001': 'transient', // serialization_failure
  '40P01': 'transient', // deadlock_detected
  '55P03': 'locked', // lock_not_available
  '57014': 'transient', // query_canceled: statement_timeout, or a conflict with recovery
  '23505': 'unique', // unique_violation
  '25006': 'unavailable', // read_only_sql_transaction
  '53300': 'saturated', // too_many_connections
  '54000': 'value', // program_limit_exceeded: a text that is too long for an index
};

/**
 * Classes by their first two characters. All codes of a class without their own entry have its meaning; all others are
 * `other`.
 */
export const SQL_STATE_CLASSES: Readonly<Record<string, SqlStateMeaning>> = {
  '08': 'unavailable', // connection exception
  '22': 'value', // data exception
  '23': 'constraint', // integrity constraint violation
  '53': 'saturated', // insufficient resources
  '57': 'unavailable', // operator intervention: shutdown, crash, cannot connect now
  '58': 'unavailable', // system error
};

/** What this SQLSTATE means. */
export function sqlStateMeaning(sqlState: string): SqlStateMeaning {
  return SQL_STATE_CODES[sqlState] ?? SQL_STATE_CLASSES[sqlState.slice(0, 2)] ?? 'other';
}

/** An altered table makes a prepared statement unusable: `cached plan must not change result type`. */
const FEATURE_NOT_SUPPORTED = '0A000';
/** The prepared statement no longer exists, or already exists: because of a pooler, or `DISCARD ALL`. */
const NAME_MIXED_UP: ReadonlySet<string | undefined> = new Set(['26000', '42P05']);

/** Whether a prepared statement was refused because it is no longer usable: it had no effect. */
export function isStalePlan({ code, routine }: Pick<ServerError, 'code' | 'routine'>): boolean {
  return NAME_MIXED_UP.has(code) || (code === FEATURE_NOT_SUPPORTED && routine === 'RevalidateCachedQuery');
}
