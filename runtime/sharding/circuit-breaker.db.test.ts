import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../test/databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import { openDatabases } from '../databases.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import {
  accountMigrations,
  HERE,
  openBank,
  type TestBank,
  THERE,
} from '../execution/test-support/accounts.js';
import { migrate } from '../migration/migrate.js';

/**
 * Maximum time until a caller gets the error, in milliseconds. The median counts, because a busy machine delays single
 * callers.
 */
const A_SECOND = 1_000;
/** Time until a recovery is noticed, with a margin for a busy machine, in milliseconds. */
const SOON = 5_000;
/** Time until the server has applied a change of its settings. */
const NOTICED = { timeout: 20_000 };

function middle(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1] ?? Number.POSITIVE_INFINITY;
}

/** Two shards on two servers. Each test makes one of them (THERE) fail. */
describe('A failing shard', () => {
  let healthy: PostgresServer;
  let server: PostgresServer;
  let bank: TestBank;
  const accounts = new Map<ShardIdentifier, string>();

  beforeAll(async () => {
    healthy = await startPostgres();
    server = await startPostgres({ max_connections: '20' });
  });
  beforeEach(async () => {
    const source = (on: PostgresServer) =>
      testDataSource(serverUrl(on, on.database), on, { connectTimeoutMs: 800, maximumPoolSize: 5 });
    const topology = topologyOf([
      [HERE, source(healthy)],
      [THERE, source(server)],
    ]);
    bank = openBank(openDatabases(topology));
    await migrate(bank.databases, { migrations: accountMigrations });
    for (const shard of [HERE, THERE]) accounts.set(shard, await bank.open(shard, 0));
  });
  afterEach(() => bank.databases.close(0));
  afterAll(async () => {
    await server?.destroy();
    await healthy?.destroy();
  });

  /** The result of a deposit, and its duration. */
  async function deposit(shard: ShardIdentifier): Promise<{ readonly code: string; readonly ms: number }> {
    const startedAt = performance.now();
    const code = await bank.credit(String(accounts.get(shard)), 1).then(
      () => 'ok',
      (error: { readonly code?: string }) => error.code ?? String(error),
    );
    return { code, ms: performance.now() - startedAt };
  }

  /** The median duration of deposits on the failing shard, each of which ends with this code. */
  async function refusals(times: number, expected: string): Promise<number> {
    const durations: number[] = [];
    for (let time = 0; time < times; time += 1) {
      const { code, ms } = await deposit(THERE);
      expect(code).toBe(expected);
      durations.push(ms);
    }
    return middle(durations);
  }

  /** Deposits on both shards, one after the other, until stopped. */
  function load(): { readonly stop: () => Promise<{ here: readonly string[]; middleMs: number }> } {
    const here: string[] = [];
    const times: number[] = [];
    let running = true;
    const run = async (shard: ShardIdentifier): Promise<void> => {
      while (running) {
        const { code, ms } = await deposit(shard);
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (shard !== HERE) continue;
        here.push(code);
        times.push(ms);
      }
    };
    const runs = Promise.all([run(HERE), ...Array.from({ length: 8 }, () => run(THERE))]);
    return {
      stop: async () => {
        running = false;
        await runs;
        return { here, middleMs: middle(times) };
      },
    };
  }

  /** Milliseconds until the first deposit succeeds. */
  async function timeToSuccess(shard: ShardIdentifier): Promise<number> {
    const startedAt = performance.now();
    while ((await deposit(shard)).code !== 'ok') {
      if (performance.now() - startedAt > 20_000) throw new Error('It does not recover');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return performance.now() - startedAt;
  }

  it('that was killed refuses calls at once, affects no other shard and recovers within a second', async () => {
    await server.kill();
    try {
      const traffic = load();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(await refusals(3, 'FW_SHARD_UNAVAILABLE')).toBeLessThan(A_SECOND);
      const { here, middleMs } = await traffic.stop();
      expect(new Set(here)).toEqual(new Set(['ok']));
      expect(here.length).toBeGreaterThan(5);
      expect(middleMs).toBeLessThan(A_SECOND);
    } finally {
      await server.start();
    }
    expect(await timeToSuccess(THERE)).toBeLessThan(SOON);
  });

  it('that hangs soon refuses calls at once, affects no other shard and recovers within a second', async () => {
    server.pause();
    const traffic = load();
    try {
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      // Without the breaker each deposit would wait for its own connection attempt, which takes 800 ms.
      expect(await refusals(20, 'FW_SHARD_UNAVAILABLE')).toBeLessThan(400);
    } finally {
      server.resume();
    }
    expect(await timeToSuccess(THERE)).toBeLessThan(SOON);
    const { here, middleMs } = await traffic.stop();
    expect(new Set(here)).toEqual(new Set(['ok']));
    expect(middleMs).toBeLessThan(A_SECOND);
  });

  it('that turned read-only refuses writes at once, serves reads and recovers within a second', async () => {
    await administer('alter system set default_transaction_read_only = on', 'select pg_reload_conf()');
    try {
      await expect.poll(async () => (await deposit(THERE)).code, NOTICED).toBe('FW_SHARD_UNAVAILABLE');
      expect(await refusals(10, 'FW_SHARD_UNAVAILABLE')).toBeLessThan(A_SECOND);
      await bank.balance(String(accounts.get(THERE)));
      expect((await deposit(HERE)).code).toBe('ok');
    } finally {
      await administer(
        'set default_transaction_read_only = off',
        'alter system reset default_transaction_read_only',
        'select pg_reload_conf()',
      );
    }
    expect(await timeToSuccess(THERE)).toBeLessThan(SOON);
  });

  it('whose connection slots are all taken refuses calls within a second and recovers within a second', async () => {
    const { host, port, user, password, database } = server;
    await administer(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fw-actions-test'`,
    );
    await expect.poll(() => bank.databases.database(THERE).stats().open, NOTICED).toBe(0);
    const takers: pg.Client[] = [];
    try {
      for (;;) {
        const taker = new pg.Client({ host, port, user, password, database });
        taker.on('error', () => {});
        if (
          !(await taker.connect().then(
            () => true,
            () => false,
          ))
        )
          break;
        takers.push(taker);
      }
      expect(await refusals(5, 'FW_SHARD_BUSY')).toBeLessThan(A_SECOND);
      expect((await deposit(HERE)).code).toBe('ok');
    } finally {
      await Promise.all(takers.map((taker) => taker.end()));
    }
    expect(await timeToSuccess(THERE)).toBeLessThan(SOON);
  });

  async function administer(...statements: readonly string[]): Promise<void> {
    const { host, port, user, password, database } = server;
    const client = new pg.Client({ host, port, user, password, database });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }
});
