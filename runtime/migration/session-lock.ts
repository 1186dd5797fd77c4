import { sleep, time } from '../concurrency/time.js';
import { MigrationError } from '../errors.js';
import type { MigratingSession } from './migrating-session.js';

/** Key of the advisory lock: the bytes of "fw-migra". */
const LOCK_KEY = 0x66772d6d69677261n;
const POLL_INTERVAL_MS = 100;

/**
 * Settings of a migrating session, instead of those of a migration: statements may run long, but must not block others
 * while waiting for locks.
 */
export const SESSION_SETTINGS =
  "reset role; reset all; set statement_timeout = 0; set lock_timeout = '30s'; set client_min_messages = warning";

/**
 * Waits until no other process migrates this database. The lock ends with the session. It polls instead of waiting in a
 * statement, because an open statement would prevent concurrent index builds of the other process from finishing.
 *
 * @throws MigrationError if another process still holds the lock after the session's time limit
 */
export async function lockSession(session: MigratingSession): Promise<void> {
  const { timeoutMs } = session;
  const giveUpAt = time.nowMs() + timeoutMs;
  for (;;) {
    const { rows } = await session.query({ text: 'select pg_try_advisory_lock($1)', values: [LOCK_KEY] });
    if (rows[0]?.[0] === true) return;
    if (time.nowMs() > giveUpAt) {
      throw new MigrationError(`Another process has been migrating for more than ${timeoutMs} ms`);
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

/**
 * The start of a transaction that waits for transactions of this kind in other processes, with the settings of
 * migrations. For poolers, through which a session cannot hold a lock: several processes may alternate between
 * migrations, and each looks for missing ones once it has the lock.
 */
export function lockEachTransaction(timeoutMs: number): string {
  return [
    'set local statement_timeout = 0',
    'set local client_min_messages = warning',
    `set local lock_timeout = ${Math.max(1, timeoutMs)}`,
    `select pg_advisory_xact_lock(${LOCK_KEY})`,
    "set local lock_timeout = '30s'; ",
  ].join('; ');
}
