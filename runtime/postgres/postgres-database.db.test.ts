import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '../../test/databases/server.js';
import { describeOn, testServer } from '../../test/databases/vitest.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { failureOf, statement } from '../sharding/test-support/statements.js';
import { TestDatabases } from './test-support/test-databases.js';

/** Time until a change is noticed on a busy machine. */
const NOTICED = { timeout: 20_000 };
/** Far above the limits that are set here, and far below the default ones. */
const PATIENCE_MS = 5_000;

describeOn('postgresql', 'A database on a server', (harness) => {
  const databases = new TestDatabases(harness);
  afterEach(() => databases.end());

  async function pidOf(database: Pick<ShardDatabase, 'query'>): Promise<unknown> {
    return (await database.query(statement('select pg_backend_pid()'))).rows[0]?.[0];
  }

  it('has the session settings of its configuration', async () => {
    const source = await databases.source({ applicationName: "it's us", lockTimeoutMs: 123 });
    const database = databases.open(source);
    const names = ['TimeZone', 'DateStyle', 'application_name', 'statement_timeout'];
    const settings = [...names, 'lock_timeout', 'idle_in_transaction_session_timeout'].map(
      (name) => `current_setting('${name}')`,
    );
    const { rows } = await database.query(statement(`select ${settings.join(', ')}`));
    expect(rows[0]).toEqual(['UTC', 'ISO, MDY', "it's us", '10s', '123ms', '10s']);
  });

  it('never shows its password', async () => {
    const database = databases.open(await databases.source());
    await pidOf(database);
    expect(inspect(database, { depth: 20, showHidden: true })).not.toContain(testServer().password);
  });

  it('survives the death of an idle connection and opens another one', async () => {
    const database = databases.open(await databases.source({ maximumPoolSize: 2 }));
    const killer = databases.open(await databases.source());
    const pid = await pidOf(database);
    await killer.query(statement('select pg_terminate_backend($1)', [pid]));
    await expect.poll(() => database.stats().open, NOTICED).toBe(0);
    expect(await pidOf(database)).not.toBe(pid);
  });

  it('survives the death of a held connection', async () => {
    const database = databases.open(await databases.source({ maximumPoolSize: 1 }));
    const session = await database.acquire();
    const pid = await pidOf(session);
    const killer = databases.open(await databases.source());
    await killer.query(statement('select pg_terminate_backend($1)', [pid]));
    await expect.poll(() => database.stats().open, NOTICED).toBe(0);
    expect(await failureOf(session.query(statement('select 1')))).toMatchObject({ phase: 'not-sent' });
    session.release();
    expect(await pidOf(database)).not.toBe(pid);
  });

  it('reports an unknown outcome for a statement whose connection was terminated', async () => {
    const database = databases.open(await databases.source());
    const failure = await failureOf(
      database.query(statement('select pg_terminate_backend(pg_backend_pid())')),
    );
    expect(failure).toMatchObject({ phase: 'in-flight', sqlState: '57P01' });
    expect((await database.query(statement('select 1'))).rows).toEqual([[1]]);
  });

  it('reports an unknown outcome for a statement whose connection was cut', async () => {
    const [database, proxy] = await databases.proxied();
    await pidOf(database);
    const failure = failureOf(database.query(statement('select pg_sleep(5)')));
    setTimeout(() => proxy.cut(), 50);
    expect(await failure).toMatchObject({ phase: 'in-flight', sqlState: undefined });
    expect((await database.query(statement('select 1'))).rows).toEqual([[1]]);
  });

  it('gives up on a half-open connection at the deadline, in use or in the pool', async () => {
    const [database, proxy] = await databases.proxied({ maximumPoolSize: 2, connectTimeoutMs: 150 });
    const session = await database.acquire();
    await pidOf(database);
    proxy.stall();
    const startedAt = performance.now();
    const [held, pooled] = await Promise.all([
      failureOf(session.query(statement('select 1'), { timeoutMs: 150 })),
      failureOf(database.query(statement('select 1'), { timeoutMs: 150 })),
    ]);
    expect([held.phase, pooled.phase]).toEqual(['in-flight', 'in-flight']);
    expect(performance.now() - startedAt).toBeLessThan(PATIENCE_MS);
    expect(database.stats().open).toBe(0);
  });

  it('lets the server end a slow statement, and gets the error', async () => {
    const database = databases.open(await databases.source({ statementTimeoutMs: 150 }));
    const failure = await failureOf(database.query(statement('select pg_sleep(5)'), { timeoutMs: 5_000 }));
    expect(failure).toMatchObject({ phase: 'answered', sqlState: '57014' });
    expect(database.stats()).toMatchObject({ open: 1, idle: 1 });
  });

  it('ends a wait for a lock', async () => {
    const database = databases.open(await databases.source({ lockTimeoutMs: 100 }));
    await database.query(statement('create table t (id int4)'));
    const session = await database.acquire();
    await session.query(statement('begin'));
    await session.query(statement('lock table t'));
    expect(await failureOf(database.query(statement('select * from t')))).toMatchObject({
      sqlState: '55P03',
    });
  });

  it('does not wait longer than configured for a server that does not answer', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    databases.onEnd(async () => silent.close());
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const direct = await databases.source({ connectTimeoutMs: 150 });
    const database = databases.open({ ...direct, url: { ...direct.url, port } });
    const startedAt = performance.now();
    const failure = await failureOf(database.query(statement('select 1')));
    expect(failure).toMatchObject({ phase: 'not-sent', reason: 'unreachable' });
    expect(performance.now() - startedAt).toBeLessThan(PATIENCE_MS);
  });

  const unencrypted = expect.stringContaining('SSL');
  it.each([
    ['a wrong password', () => ({ password: { reveal: () => 'wrong' } }), {}, { sqlState: '28P01' }],
    ['a missing database', () => ({}), { database: 'fw_test_absent' }, { sqlState: '3D000' }],
    ['TLS on a server without', () => ({}), { sslMode: 'require' }, { message: unencrypted }],
    ['verified TLS on a server without', () => ({}), { sslMode: 'verify-full' }, { message: unencrypted }],
  ] as const)('refuses %s, and never falls back', async (_, change, url, expected) => {
    const direct = await databases.source();
    const database = databases.open({ ...direct, ...change(), url: { ...direct.url, ...url } });
    const failure = await failureOf(database.query(statement('select 1')));
    expect(failure).toMatchObject({ phase: 'not-sent', reason: 'unreachable', ...expected });
  });

  it('fails for a closed port, for each of several callers', async () => {
    const direct = await databases.source();
    const database = databases.open({ ...direct, url: { ...direct.url, port: await freePort() } });
    const message = expect.stringContaining(database.description);
    const calls = [1, 2, 3].map(() => failureOf(database.query(statement('select 1'))));
    for (const failure of await Promise.all(calls))
      expect(failure).toMatchObject({ phase: 'not-sent', reason: 'unreachable', message });
  });

  it('opens at most its maximum of connections, and serves all callers', async () => {
    const database = databases.open(await databases.source({ maximumPoolSize: 3 }));
    const pids = await Promise.all(Array.from({ length: 50 }, () => pidOf(database)));
    expect(new Set(pids).size).toBeLessThanOrEqual(3);
    expect(database.stats()).toMatchObject({ waiting: 0 });
  });

  it('closes idle connections', async () => {
    const database = databases.open(await databases.source({ idleTimeoutMs: 60 }));
    for (const session of [await database.acquire(), await database.acquire()]) session.release();
    expect(database.stats().open).toBe(2);
    await expect.poll(() => database.stats().open, NOTICED).toBe(0);
    expect((await database.query(statement('select 1'))).rows).toEqual([[1]]);
  });

  it('replaces old connections, even while callers wait for them', async () => {
    const young = databases.open(await databases.source({ maximumPoolSize: 1 }));
    expect(new Set([await pidOf(young), await pidOf(young)]).size).toBe(1);
    const database = databases.open(await databases.source({ maximumPoolSize: 1, maximumLifetimeMs: 1 }));
    const session = await database.acquire();
    // Each statement takes longer than a connection's lifetime.
    const slow = statement('select pg_backend_pid() from pg_sleep(0.02)');
    const waiting = [1, 2, 3].map(async () => (await database.query(slow)).rows[0]?.[0]);
    await delay(5);
    session.release();
    expect(new Set(await Promise.all(waiting)).size).toBe(3);
    await expect.poll(() => database.stats().open, NOTICED).toBe(0);
  });

  it('lets calls in progress finish when it is closed, and refuses later ones', async () => {
    const database = databases.open(await databases.source({ maximumPoolSize: 1 }));
    const running = database.query(statement('select 1 from pg_sleep(0.15)'));
    await expect.poll(() => database.stats().open, NOTICED).toBe(1);
    const waiting = failureOf(database.query(statement('select 2')));
    const closing = database.close();
    expect((await running).rows).toEqual([[1]]);
    expect(await waiting).toMatchObject({ phase: 'not-sent', reason: 'closed' });
    await closing;
    expect(await failureOf(database.query(statement('select 1')))).toMatchObject({ reason: 'closed' });
    expect(database.stats().open).toBe(0);
  });

  it('does not read the environment', async () => {
    const direct = await databases.source();
    const before = { ...process.env };
    Object.assign(process.env, {
      PGSSLMODE: 'require',
      PGOPTIONS: '-c work_mem=77MB',
      PGPASSWORD: 'wrong',
      PGHOST: 'nowhere',
    });
    try {
      const { rows } = await databases.open(direct).query(statement(`select current_setting('work_mem')`));
      expect(rows).toEqual([['4MB']]);
    } finally {
      process.env = before;
    }
  });
});
