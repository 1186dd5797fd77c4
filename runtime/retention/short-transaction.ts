import { time } from '../concurrency/time.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { Rows, ShardDatabase } from '../sharding/shard-database.js';
import { type Transaction, TransactionManager } from '../sharding/transaction-manager.js';

/** Runs a statement in a transaction. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<Rows>;

/** Runs single statements, each a transaction of its own. */
export function statementsOn(database: ShardDatabase): Query {
  return (text, values = []) => database.query({ text, values }, { timeoutMs: SCAN_TIMEOUT_MS });
}

/** Reading through a partition of any size, and validating it, has this long. */
export const SCAN_TIMEOUT_MS = 3_600_000;
/** Writers queue behind a lock that is waited for, so that the wait is short; another attempt follows. */
const LOCK_WAIT_MS = 100;
const LOCK_ATTEMPTS = 30;
const LONGEST_PAUSE_MS = 200;

/** Runs `work` in one transaction whose lock waits end after `lockWaitMs`. Default 100. */
export function inTransaction<T>(
  database: ShardDatabase,
  work: (query: Query) => Promise<T>,
  { lockWaitMs = LOCK_WAIT_MS }: { readonly lockWaitMs?: number } = {},
): Promise<T> {
  const limits = { timeoutMs: SCAN_TIMEOUT_MS };
  return new TransactionManager(database).transaction(async (transaction: Transaction) => {
    const query: Query = (text, values = []) => transaction.query({ text, values }, limits);
    await query(
      `SELECT set_config('lock_timeout', '${lockWaitMs}', true), set_config('statement_timeout', '${SCAN_TIMEOUT_MS}', true),
        set_config('idle_in_transaction_session_timeout', '0', true)`,
    );
    return work(query);
  }, limits);
}

/**
 * Runs what needs a lock that writers wait for: briefly each time, and again if another transaction holds it.
 *
 * @throws DriverFailure with 55P03 if the lock did not come free in about ten seconds
 */
export async function withShortLock<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error) || attempt === LOCK_ATTEMPTS) throw error;
      await pause(Math.min(LONGEST_PAUSE_MS, 20 * attempt));
    }
  }
}

/** Whether a lock did not come free in time. */
export function isLocked(error: unknown): boolean {
  return hasState(error, '55P03');
}

export function hasState(error: unknown, sqlState: string): boolean {
  return error instanceof DriverFailure && error.sqlState === sqlState;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    time.setTimeout(resolve, ms);
  });
}
