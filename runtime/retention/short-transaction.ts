import { sleep } from '../concurrency/time.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { Rows, ShardDatabase } from '../sharding/shard-database.js';
import { type Transaction, TransactionManager } from '../sharding/transaction-manager.js';

/** Runs a statement in a transaction. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<Rows>;

/** Runs single statements, each as its own transaction. */
export function statementsOn(database: ShardDatabase): Query {
  return (text, values = []) => database.query({ text, values }, { timeoutMs: SCAN_TIMEOUT_MS });
}

/** Time limit for scanning a partition of any size, in milliseconds. */
const SCAN_TIMEOUT_MS = 3_600_000;
/**
 * Maximum wait for a lock, in milliseconds. Writers queue behind a waiting lock request, so the wait is short and
 * repeated.
 */
const LOCK_WAIT_MS = 100;
const LOCK_ATTEMPTS = 30;
const LONGEST_PAUSE_MS = 200;

/** Runs `work` in one transaction whose lock waits are short. */
export function inTransaction<T>(database: ShardDatabase, work: (query: Query) => Promise<T>): Promise<T> {
  const limits = { timeoutMs: SCAN_TIMEOUT_MS };
  return new TransactionManager(database).transaction(async (transaction: Transaction) => {
    const query: Query = (text, values = []) => transaction.query({ text, values }, limits);
    await query(
      `SELECT set_config('lock_timeout', '${LOCK_WAIT_MS}', true), set_config('statement_timeout', '${SCAN_TIMEOUT_MS}', true),
        set_config('idle_in_transaction_session_timeout', '0', true)`,
    );
    return work(query);
  }, limits);
}

/**
 * Runs `work` in one transaction that needs a lock which writers wait for: each attempt waits briefly, and is repeated
 * if another transaction holds the lock.
 *
 * @throws DriverFailure with 55P03 if the lock was not released in about ten seconds
 */
export async function withShortLock<T>(
  database: ShardDatabase,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(database, work);
    } catch (error) {
      if (!isLocked(error) || attempt === LOCK_ATTEMPTS) throw error;
      await sleep(Math.min(LONGEST_PAUSE_MS, 20 * attempt));
    }
  }
}

/** Whether a lock was not granted in time. */
export function isLocked(error: unknown): boolean {
  return hasState(error, '55P03');
}

export function hasState(error: unknown, sqlState: string): boolean {
  return error instanceof DriverFailure && error.sqlState === sqlState;
}
