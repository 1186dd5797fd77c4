import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../test/databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import {
  freeze,
  type Hurt,
  kill,
  makeReadOnly,
  takeAllConnections,
} from '../../test/faults/server-faults.js';
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
        await delay(5);
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
      await delay(10);
    }
    return performance.now() - startedAt;
  }

  /** The work is done while the server is damaged. Afterwards, the shard soon recovers. */
  async function during(hurt: Hurt, work: () => Promise<void>): Promise<void> {
    const heal = await hurt(server);
    await work().finally(heal);
    expect(await timeToSuccess(THERE)).toBeLessThan(SOON);
  }

  it.each([
    ['was killed', kill, { forMs: 1_500, refusedMs: A_SECOND }],
    // Without the breaker each deposit would wait for its own connection attempt, which takes 800 ms.
    ['hangs', freeze, { forMs: 4_000, refusedMs: 400 }],
  ])('that %s soon refuses calls at once, affects no other shard and recovers', async (_, hurt, limits) => {
    let traffic: ReturnType<typeof load> | undefined;
    await during(hurt, async () => {
      traffic = load();
      await delay(limits.forMs);
      expect(await refusals(20, 'FW_SHARD_UNAVAILABLE')).toBeLessThan(limits.refusedMs);
    });
    const { here = [], middleMs } = (await traffic?.stop()) ?? {};
    expect(new Set(here)).toEqual(new Set(['ok']));
    expect(here.length).toBeGreaterThan(5);
    expect(middleMs).toBeLessThan(A_SECOND);
  });

  it('that turned read-only refuses writes at once, serves reads and recovers', () =>
    during(makeReadOnly, async () => {
      await expect.poll(async () => (await deposit(THERE)).code, NOTICED).toBe('FW_SHARD_UNAVAILABLE');
      expect(await refusals(10, 'FW_SHARD_UNAVAILABLE')).toBeLessThan(A_SECOND);
      await bank.balance(String(accounts.get(THERE)));
      expect((await deposit(HERE)).code).toBe('ok');
    }));

  it('whose connection slots are all taken refuses calls within a second and recovers', () =>
    during(takeAllConnections, async () => {
      await expect.poll(() => bank.databases.database(THERE).stats().open, NOTICED).toBe(0);
      expect(await refusals(5, 'FW_SHARD_BUSY')).toBeLessThan(A_SECOND);
      expect((await deposit(HERE)).code).toBe('ok');
    }));
});
