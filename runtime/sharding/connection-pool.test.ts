import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ConnectionPool } from './connection-pool.js';
import type { DriverFailure } from './driver-failure.js';
import type { PooledConnection } from './pooled-connection.js';
import { PooledDatabase } from './pooled-database.js';

/** Limits of a pool whose connections stay open. */
const limitsOf = (maximumPoolSize: number) => ({
  ...{ maximumPoolSize, statementTimeoutMs: 60_000 },
  ...{ idleTimeoutMs: Number.POSITIVE_INFINITY, maximumLifetimeMs: Number.POSITIVE_INFINITY },
});

function poolOf(
  maximumPoolSize: number,
  open: () => Promise<PooledConnection> = () => Promise.resolve(connection()),
): ConnectionPool<PooledConnection> {
  return new ConnectionPool({ limits: limitsOf(maximumPoolSize), description: 'a database', open });
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

it('has one listener per signal for all callers that wait with it, of whom there are at most 10,000', async () => {
  const pool = poolOf(1, () => new Promise(() => {}));
  const abort = new AbortController();
  const acquire = (): Promise<unknown> =>
    pool
      .acquire(performance.now() + 60_000, { signal: abort.signal })
      .catch(({ phase, reason }: DriverFailure) => `${phase} ${reason}`);
  const acquired = Array.from({ length: 10_000 }, acquire);
  expect(await acquire()).toBe('not-sent pool-exhausted');
  expect(pool.stats().waiting).toBe(10_000);
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
  abort.abort();
  expect(new Set(await Promise.all(acquired))).toEqual(new Set(['not-sent aborted']));
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
    const pool = poolOf(1, () => opened);
    const waits = [0, 1].map(() => pool.acquire(performance.now() + 60_000, {}, 1_000));
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

it('opens a connection outside of the context of its first caller', async () => {
  const context = new AsyncLocalStorage<string>();
  const contexts: (string | undefined)[] = [];
  const database = new PooledDatabase<never>({
    shard: ShardIdentifier.of(0, 0),
    kind: 'postgresql',
    description: 'a database',
    limits: limitsOf(1),
    open: () => {
      contexts.push(context.getStore());
      return Promise.reject(new Error('It does not answer'));
    },
  });
  const asked = context.run('perform', () => database.query({ text: 'SELECT 1', values: [] }));
  await expect(asked).rejects.toThrow('It does not answer');
  expect(contexts).toEqual([undefined]);
  await database.close(0);
});

describe('A reservation', () => {
  it('checks its limit after the wait, too', async () => {
    const pool = poolOf(3);
    const deadlineAt = performance.now() + 60_000;
    const reserved = await Promise.allSettled(Array.from({ length: 6 }, () => pool.reserve(deadlineAt)));
    expect(reserved.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(pool.stats()).toMatchObject({ listening: 2, waiting: 0 });
    await pool.acquire(deadlineAt);
    await pool.close(0);
  });

  it('takes no slot for a connection that is lost while it is granted', async () => {
    const only = connection();
    const pool = poolOf(2, () => Promise.resolve(only));
    const deadlineAt = performance.now() + 60_000;
    pool.release(await pool.acquire(deadlineAt));
    const reserved = pool.reserve(deadlineAt);
    pool.discard(only);
    await expect(reserved).rejects.toMatchObject({ phase: 'not-sent', reason: 'unreachable' });
    expect(pool.stats()).toMatchObject({ listening: 0, open: 0 });
    await pool.close(0);
  });
});

it('opens a connection for a waiting caller when a listener gives its own back', async () => {
  const pool = poolOf(2);
  const listener = await pool.reserve(performance.now() + 1_000);
  await pool.acquire(performance.now() + 1_000);
  const waiting = pool.acquire(performance.now() + 1_000);
  await pool.closeReserved(listener);
  expect(await waiting.then(() => 'a connection', String)).toBe('a connection');
  await pool.close(0);
});

it('waits for connections in use when it is closed, however long the time for that is', async () => {
  const pool = poolOf(1);
  const used = await pool.acquire(performance.now() + 1_000);
  const closed = pool.close(Number.POSITIVE_INFINITY);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(pool.stats().open).toBe(1);
  pool.release(used);
  await closed;
});
