import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { ConnectionPool } from './connection-pool.js';
import { DriverFailure } from './driver-failure.js';

function unreachable(): ConnectionPool<never> {
  return new ConnectionPool<never>({
    maximumSize: 1,
    idleTimeoutMs: Number.POSITIVE_INFINITY,
    maximumLifetimeMs: Number.POSITIVE_INFINITY,
    defaultTimeoutMs: 60_000,
    description: 'a database that does not answer',
    open: () => new Promise(() => {}),
  });
}

it('has one listener on a signal, however many callers wait with it', async () => {
  const pool = unreachable();
  const abort = new AbortController();
  const acquired = Array.from({ length: 20 }, () =>
    pool.acquire(performance.now() + 60_000, { signal: abort.signal }).catch((error: unknown) => error),
  );
  expect(pool.stats().waiting).toBe(20);
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
  abort.abort();
  for (const failure of await Promise.all(acquired)) {
    expect(failure).toBeInstanceOf(DriverFailure);
    expect(failure).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
  }
  expect(pool.stats().waiting).toBe(0);
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  await pool.close(0);
});
