import { sleep, time } from '../concurrency/time.js';
import { MigrationError } from '../errors.js';
import type { ShardSession } from '../sharding/shard-database.js';

/** Key of the advisory lock: the bytes of "fw-migra". */
const LOCK_KEY = 0x66772d6d69677261n;
const POLL_INTERVAL_MS = 100;

/** Settings of a migrating session: statements may take long, but must not block others behind their locks. */
export const SESSION_SETTINGS =
  "set statement_timeout = 0; set lock_timeout = '30s'; set client_min_messages = warning";

/**
 * Waits until no other process migrates this database. The lock ends with the session. It is asked for again and again
 * rather than waited for, because a statement that waits would keep the other one's index builds from finishing.
 *
 * @throws MigrationError if another process still has it after `timeoutMs`
 */
export async function lockSession(session: ShardSession, timeoutMs: number): Promise<void> {
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
 * The start of a transaction that waits until no other process is in one of this kind, with the settings that
 * migrations need. For where a session cannot hold a lock: there the turns of several processes alternate between
 * migrations, and each looks for what is left to do once it has the lock.
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
