import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionPool } from './connection-pool.js';
import { DriverFailure } from './driver-failure.js';
import type { PooledConnection } from './pooled-connection.js';

const LIMITS = {
  idleTimeoutMs: Number.POSITIVE_INFINITY,
  maximumLifetimeMs: Number.POSITIVE_INFINITY,
  defaultTimeoutMs: 60_000,
} as const;

function unreachable(): ConnectionPool<never> {
  return new ConnectionPool<never>({
    ...LIMITS,
    maximumSize: 1,
    description: 'a database that does not answer',
    open: () => new Promise(() => {}),
  });
}

function connection(): PooledConnection {
  return {
    usable: true,
    deadlineAt: Number.POSITIVE_INFINITY,
    expire: () => {},
    close: () => Promise.resolve(),
    destroy: () => undefined,
  };
}

it('has one listener per signal for all callers that wait with it', async () => {
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

describe('A wait for a free connection', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('starts when the first connection is open', async () => {
    let open: (connection: PooledConnection) => void = () => {};
    const opened = new Promise<PooledConnection>((resolve) => {
      open = resolve;
    });
    const pool = new ConnectionPool<PooledConnection>({
      ...LIMITS,
      maximumSize: 1,
      description: 'a database that is slow to connect',
      open: () => opened,
    });
    const waits = [0, 1].map(() => pool.acquire(performance.now() + 1_000, {}, performance.now() + 60_000));
    const second = waits[1]?.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(5_000);
    open(connection());
    const first = await waits[0];
    await vi.advanceTimersByTimeAsync(900);
    expect(pool.stats()).toMatchObject({ open: 1, waiting: 1 });
    await vi.advanceTimersByTimeAsync(200);
    expect(await second).toMatchObject({ phase: 'not-sent', reason: 'pool-exhausted' });
    if (first !== undefined) pool.release(first);
    await pool.close(0);
  });
});
