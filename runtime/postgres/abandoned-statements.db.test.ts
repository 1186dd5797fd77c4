import { afterEach, expect, it } from 'vitest';
import { topologyOf } from '../../test/databases/topology.js';
import { describeOn } from '../../test/databases/vitest.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { NotificationListener, ShardDatabase } from '../sharding/shard-database.js';
import { failureOf, statement } from '../sharding/test-support/statements.js';
import { TestDatabases } from './test-support/test-databases.js';

const NOTICED = { timeout: 60_000 };
const deaf: NotificationListener = { onNotification: () => {}, onLost: () => {} };

describeOn('postgresql', 'Connections whose callers gave up', (harness) => {
  const databases = new TestDatabases(harness);
  afterEach(() => databases.end());

  /** Server processes of the database, except the observer's: all, and those that run a statement. */
  const counts = async (observer: ShardDatabase): Promise<{ all: number; busy: number }> => {
    const { rows } = await observer.query(
      statement(`select count(*)::int4, count(*) filter (where state <> 'idle')::int4 from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`),
    );
    const [all, busy] = (rows[0] ?? []).map(Number);
    return { all: all ?? 0, busy: busy ?? 0 };
  };
  const backends = async (observer: ShardDatabase): Promise<number> => (await counts(observer)).all;

  it.each([
    ['reads, which are cancelled', 'select pg_sleep(60)'],
    ['writes, whose lost connection is noticed', 'insert into t select 1 from pg_sleep(60)'],
  ])('count until the server is done with them: %s', async (_, text) => {
    const source = await databases.source({ maximumPoolSize: 3, statementTimeoutMs: 60_000 });
    const observer = databases.open(source);
    const database = databases.open(source);
    await observer.query(statement('create table t (n int4)'));
    let most = 0;
    let going = true;
    const watching = (async () => {
      while (going) most = Math.max(most, await backends(observer));
    })();
    try {
      for (let round = 0; round < 4; round += 1) {
        const calls = Array.from({ length: 6 }, () =>
          failureOf(database.query(statement(text), { timeoutMs: 300 })),
        );
        for (const failure of await Promise.all(calls))
          expect(['in-flight', 'not-sent']).toContain(failure.phase);
      }
      // The server ends the statement within half a second; it would run for a minute.
      await expect.poll(() => database.stats().leaving, NOTICED).toBe(0);
      // A connection that was opened too late for its caller stays idle.
      await expect.poll(async () => (await counts(observer)).busy, NOTICED).toBe(0);
    } finally {
      // The observer is closed after the test, even a failed one.
      going = false;
      await watching;
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
    expect((await database.query(statement('select count(*)::int4 from t'))).rows).toEqual([[0]]);
  });

  it('are closed on the server after a refusal that makes them unusable', async () => {
    const source = await databases.source({ maximumPoolSize: 3 });
    const observer = databases.open(source);
    const database = databases.open(source);
    // Simulates a server that was demoted: it refuses writes, and a new connection may reach its successor.
    const refused = statement(
      "do $$ begin raise exception using errcode = '25006', message = 'read-only'; end $$",
    );
    for (let round = 0; round < 12; round += 1) {
      expect(await failureOf(database.query(refused))).toMatchObject({ sqlState: '25006' });
    }
    await expect.poll(() => backends(observer), NOTICED).toBe(0);
    expect(database.stats()).toMatchObject({ open: 0, leaving: 0 });
  });

  it('are closed on the server when their prepared statements have become stale', async () => {
    const source = await databases.source({ maximumPoolSize: 3 });
    const observer = databases.open(source);
    const database = databases.open(source);
    await observer.query(statement('create table t (n int4)'));
    const all = { ...statement('select * from t'), name: 'fw_all' };
    for (let round = 0; round < 12; round += 1) {
      await database.query(all);
      await observer.query(statement(`alter table t add column c${round} int4`));
    }
    await database.query(all);
    await expect.poll(() => backends(observer), NOTICED).toBeLessThanOrEqual(1);
  });

  it('count as open while they listen', async () => {
    const database = databases.open(await databases.source({ maximumPoolSize: 2 }));
    const subscription = await database.listen?.('channel', deaf);
    expect(database.stats()).toMatchObject({ open: 0, listening: 1 });
    const session = await database.acquire();
    const late = await failureOf(database.query(statement('select 1'), { timeoutMs: 200 }));
    expect(late).toMatchObject({ phase: 'not-sent', reason: 'pool-exhausted' });
    expect(await failureOf(database.listen?.('channel', deaf) ?? Promise.resolve())).toMatchObject({
      message: expect.stringContaining('no connection to spare'),
    });
    await subscription?.close();
    await database.query(statement('select 1'));
    session.release();
    expect(database.stats()).toMatchObject({ listening: 0 });
  });

  it('do not listen if a shard would be left without one for statements', async () => {
    const shards = [ShardIdentifier.of(0, 0), ShardIdentifier.of(0, 1)] as const;
    const sources = [await databases.source(), await databases.source()] as const;
    const topology = topologyOf(shards.map((shard, at) => [shard, sources[at] ?? sources[0]] as const));
    const registry = openDatabases({ ...topology, maximumConnections: 3 });
    databases.onEnd(() => registry.close(0));
    const [first, second] = [registry.database(shards[0]), registry.database(shards[1])];
    const subscription = await first.listen?.('channel', deaf);
    expect(await failureOf(second.listen?.('channel', deaf) ?? Promise.resolve())).toMatchObject({
      reason: 'pool-exhausted',
    });
    for (const each of [first, second, first, second]) await each.query(statement('select 1'));
    await subscription?.close();
    await (await second.listen?.('channel', deaf))?.close();
  });
});
