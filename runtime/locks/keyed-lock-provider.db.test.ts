import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { Action, startPerform } from '../action/action.js';
import { ActionPlan } from '../action/action-plan.js';
import { runInPerformScope } from '../action/perform-scope.js';
import { systemClock } from '../domain/clock.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { LockLostError, LockTimeoutError, ValidationError, WriteInPerformError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { countingRegistry } from '../sharding/test-support/counting-registry.js';
import { wrappedRegistry } from '../sharding/test-support/wrapped-registry.js';
import { KeyedLockProvider, lockCondition } from './keyed-lock-provider.js';
import type { LockHandle } from './lock-handle.js';

const SHARD = ShardIdentifier.of(0, 0);

describeOnEachAdapter('Keyed locks', (harness) => {
  function databases(...more: readonly ShardIdentifier[]): Promise<DatabaseRegistry> {
    return harness.makeShards({ shards: [SHARD, ...more] });
  }

  /** Two providers that share only the database, as two processes do. */
  async function twoProcesses(): Promise<readonly [KeyedLockProvider, KeyedLockProvider, DatabaseRegistry]> {
    const registry = await databases();
    return [new KeyedLockProvider(registry), new KeyedLockProvider(registry), registry];
  }

  it('have one holder at a time, even between processes', async () => {
    const [one, other] = await twoProcesses();
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await delay(2);
      inside -= 1;
    };
    const runs = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? one : other).withLock(SHARD, 'x', work),
    );
    await Promise.all(runs);
    expect(most).toBe(1);
  });

  it('cannot have names that are reserved for the runtime', async () => {
    const [locks] = await twoProcesses();
    await expect(locks.acquire(SHARD, 'fw:journal')).rejects.toThrow('must not begin with fw: (');
  });

  it('of other names and other shards are independent', async () => {
    const elsewhere = ShardIdentifier.of(1, 0);
    const registry = await databases(elsewhere);
    const [one, other] = [new KeyedLockProvider(registry), new KeyedLockProvider(registry)];
    await one.acquire(SHARD, 'x');
    await other.acquire(SHARD, 'y', { waitMs: 0 });
    await other.acquire(elsewhere, 'x', { waitMs: 0 });
    await expect(other.acquire(SHARD, 'x', { waitMs: 0 })).rejects.toThrow(LockTimeoutError);
  });

  it('give up after the wait limit, in this process and against another one', async () => {
    const [one, other] = await twoProcesses();
    await one.acquire(SHARD, 'x');
    for (const provider of [one, other]) {
      const startedAt = performance.now();
      await expect(provider.acquire(SHARD, 'x', { waitMs: 60 })).rejects.toMatchObject({
        code: 'FW_LOCK_TIMEOUT',
        lockName: 'x',
      });
      expect(performance.now() - startedAt).toBeGreaterThan(50);
      expect(performance.now() - startedAt).toBeLessThan(30_000);
    }
  });

  it('give up waiting when the signal fires', async () => {
    const [one, other] = await twoProcesses();
    await one.acquire(SHARD, 'x');
    for (const provider of [one, other]) {
      const call = provider.acquire(SHARD, 'x', { signal: AbortSignal.timeout(30) });
      await expect(call).rejects.toMatchObject({ code: 'FW_ABORTED' });
    }
    await expect(one.acquire(SHARD, 'y', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'FW_ABORTED',
    });
  });

  it('go to the first waiter of this process', async () => {
    const [one] = await twoProcesses();
    const order: number[] = [];
    const first = await one.acquire(SHARD, 'x');
    const rest = [1, 2, 3, 4].map((number) => one.withLock(SHARD, 'x', () => order.push(number)));
    await first.release();
    await Promise.all(rest);
    expect(order).toEqual([1, 2, 3, 4]);
  });

  it('are not acquired by code that already holds them', async () => {
    const [one] = await twoProcesses();
    await one.withLock(SHARD, 'x', async (outer) => {
      await expect(one.acquire(SHARD, 'x', { waitMs: 0 })).rejects.toThrow(LockTimeoutError);
      await outer.verify();
    });
  });

  it('have increasing tokens, even after the row was purged', async () => {
    const [one, other, registry] = await twoProcesses();
    const tokens: bigint[] = [];
    for (const provider of [one, other, one]) {
      const lock = await provider.acquire(SHARD, 'x');
      tokens.push(lock.token);
      await lock.release();
    }
    await registry.database(SHARD).query({ text: 'delete from eventlog.locks', values: [] });
    // Rows are purged after hours. The clock of the embedded server has milliseconds.
    await delay(5);
    tokens.push((await one.acquire(SHARD, 'x')).token);
    expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(tokens).size).toBe(4);
  });

  it('are lost when the hold time expires, and report it', async () => {
    const [one, other] = await twoProcesses();
    const late = await one.acquire(SHARD, 'x', { holdMs: 40 });
    const next = await other.acquire(SHARD, 'x');
    expect(next.token).toBeGreaterThan(late.token);
    await expect.poll(() => late.signal.aborted).toBe(true);
    expect(late.signal.reason).toBeInstanceOf(LockLostError);
    await expect(late.verify()).rejects.toThrow(LockLostError);
    await expect(late.extend()).rejects.toThrow(LockLostError);
    await late.release();
    await next.verify();
    expect(await one.verify(SHARD, 'x', late.token)).toBe(false);
    expect(await one.verify(SHARD, 'x', next.token)).toBe(true);
  });

  it('fail the work that took longer than they were held', async () => {
    const [one] = await twoProcesses();
    await expect(one.withLock(SHARD, 'x', () => delay(60), { holdMs: 20 })).rejects.toThrow(LockLostError);
    await one.acquire(SHARD, 'x', { waitMs: 1_000 });
  });

  it('are extended by the times for which they can be acquired', async () => {
    const [one, other] = await twoProcesses();
    const lock = await one.acquire(SHARD, 'x', { holdMs: 60_000.5 });
    await lock.extend(30_000.5);
    for (const holdMs of [0, -1, Number.NaN, 1e12]) {
      await expect(lock.extend(holdMs)).rejects.toThrow(ValidationError);
    }
    await lock.verify();
    await expect(other.acquire(SHARD, 'x', { waitMs: 0 })).rejects.toThrow(LockTimeoutError);
  });

  it('are held as long as they are extended', async () => {
    const [one, other] = await twoProcesses();
    const lock = await one.acquire(SHARD, 'x', { holdMs: 2_000 });
    for (let round = 0; round < 3; round += 1) {
      await delay(700);
      await lock.extend();
    }
    await expect(other.acquire(SHARD, 'x', { waitMs: 0 })).rejects.toThrow(LockTimeoutError);
    expect(lock.signal.aborted).toBe(false);
  });

  it('are released although they have expired, because they may be extended on the server', async () => {
    const registry = await databases();
    let expired: Promise<unknown> = Promise.resolve();
    const cut = wrappedRegistry(registry, async ({ name }, send) => {
      const rows = await send();
      if (name !== 'fw_lock_extend') return rows;
      await expired;
      throw new DriverFailure('lost', { phase: 'in-flight' });
    });
    const extend = (lock: LockHandle): Promise<void> => {
      expired = once(lock.signal, 'abort');
      return lock.extend(60_000);
    };
    const work = new KeyedLockProvider(cut).withLock(SHARD, 'x', extend, { holdMs: 1_500 });
    await expect(work).rejects.toMatchObject({ code: 'FW_SHARD_UNAVAILABLE' });
    await new KeyedLockProvider(registry).acquire(SHARD, 'x', { waitMs: 0 });
  });

  it('are released after an error', async () => {
    const [one, other] = await twoProcesses();
    const failing = one.withLock(SHARD, 'x', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    await other.acquire(SHARD, 'x', { waitMs: 0 });
  });

  it('send one query at a time for all waiters', async () => {
    const { registry, counts } = countingRegistry(await databases());
    const provider = new KeyedLockProvider(registry);
    const first = await provider.acquire(SHARD, 'x');
    const waiting = Array.from({ length: 50 }, () => provider.withLock(SHARD, 'x', () => {}));
    await delay(100);
    expect(counts.started).toBe(1);
    await first.release();
    await Promise.all(waiting);
    expect(counts.mostAtOnce).toBe(1);
    expect(counts.started).toBe(2 * 51);
  });

  it('are refused inside perform', async () => {
    const [one] = await twoProcesses();
    const plan = new ActionPlan(systemClock);
    const scope = { actionName: 'Lock', plan, signal: undefined, remainingMs: () => 1_000 };
    class LockAction extends Action<SelfProvider, void> {
      protected async perform(_: unknown, { provider }: SelfProvider): Promise<void> {
        await provider.acquire(SHARD, 'x');
      }
    }
    const run = runInPerformScope(scope, () =>
      startPerform(new LockAction(systemClock), plan, { name: 'alice', claims: {} }, { provider: one }),
    );
    await expect(run).rejects.toThrow(WriteInPerformError);
  });

  it('have names and times within bounds', async () => {
    const [one] = await twoProcesses();
    for (const name of ['', 'x'.repeat(256), 'a\0b', 'a\ud800']) {
      await expect(one.acquire(SHARD, name)).rejects.toMatchObject({ code: 'FW_VALIDATION' });
    }
    for (const options of [{ waitMs: -1 }, { holdMs: 0 }, { holdMs: Number.NaN }, { waitMs: Infinity }]) {
      await expect(one.acquire(SHARD, 'x', options)).rejects.toMatchObject({ code: 'FW_VALIDATION' });
    }
    await (await one.acquire(SHARD, 'x'.repeat(255))).release();
  });

  it('can be a condition of statements', async () => {
    const [one, other, registry] = await twoProcesses();
    const database = registry.database(SHARD);
    await database.query({ text: 'create table effects (id int)', values: [] });
    const lock = await one.acquire(SHARD, 'x');
    const { text, values } = lockCondition(lock, 2);
    const write = (): Promise<unknown> =>
      database.query({ text: `insert into effects select $1::int where ${text}`, values: [7, ...values] });
    expect(await write()).toMatchObject({ rowCount: 1 });
    await lock.release();
    await other.acquire(SHARD, 'x');
    expect(await write()).toMatchObject({ rowCount: 0 });
  });
});

interface SelfProvider {
  readonly provider: KeyedLockProvider;
}

describeOn('postgresql', 'A write under the condition of a lock', (harness) => {
  it('keeps the lock until its transaction ends, even if the hold time expires meanwhile', async () => {
    const registry = await harness.makeShards({ shards: [SHARD] });
    const provider = new KeyedLockProvider(registry);
    const lock = await provider.acquire(SHARD, 'x', { holdMs: 1_500 });
    const { text, values } = lockCondition(lock, 1);
    await registry.transactionManager(SHARD).transaction(async (transaction) => {
      expect((await transaction.query({ text: `select ${text}`, values })).rows).toEqual([[true]]);
      await delay(1_600);
      await expect(provider.acquire(SHARD, 'x', { waitMs: 50 })).rejects.toThrow();
    });
    await provider.acquire(SHARD, 'x', { waitMs: 1_000 });
  });
});
