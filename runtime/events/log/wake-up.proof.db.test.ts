import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { SeededRandom } from '../../../test/faults/seeded-random.js';
import { postgresAdapter } from '../../databases.js';
import { HERE, THERE } from '../../execution/test-support/accounts.js';
import type { DatabaseAdapter } from '../../sharding/database-adapter.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { forwarding } from '../../sharding/forwarding.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { TransactionManager } from '../../sharding/transaction-manager.js';
import { handlerOf, type Ledger, ledgerMigrations, openLedger, until } from '../test-support/ledger.js';

const started: Ledger[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((ledger) => ledger.events.stop(0)));
});

function deliver(ledger: Ledger): Ledger {
  started.push(ledger);
  ledger.events.start();
  return ledger;
}

describeOn('postgresql', 'A commit of another process', (harness) => {
  test('wakes a handler through a notification', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const seen: number[] = [];
    const handlers = [handlerOf('Far', ({ modelVersion }) => void seen.push(modelVersion))];
    // Without notifications the process would find no event for a minute.
    const limits = { slowPollMs: 60_000, fastPollMs: 60_000 };
    deliver(openLedger(databases, { handlers, limits }));
    const writer = openLedger(databases, { handlers, limits });
    const account = await writer.open();
    await until(async () => (await writer.events.lag())[0]?.consumers[0]?.holder !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await writer.credit(account);
    await until(() => seen.length === 1, 30_000);
  });

  test('is found by polling where notifications never arrive, with a warning', async () => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    const databases = new DatabaseRegistry(topology, { adapters: [deafAdapter], warn: () => {} });
    onTestFinished(() => databases.close(0));
    const seen: number[] = [];
    const handlers = [handlerOf('Far', ({ modelVersion }) => void seen.push(modelVersion))];
    const reader = deliver(openLedger(databases, { handlers, limits: { slowPollMs: 60_000 } }));
    const writer = openLedger(databases);
    await writer.credit(await writer.open());
    await until(() => seen.length === 1, 30_000);
    await until(() => reader.warnings.some((warning) => warning.includes('pooler')), 30_000);
    await reader.events.stop();
  });
});

/** How long sessions are terminated, in milliseconds: the long form does so once a second. */
const TERMINATING_MS = Number(process.env['FW_PROOF_TERMINATING_MS'] ?? 3_000);
const IS_LONG = process.env['FW_PROOF_TERMINATING_MS'] !== undefined;
const PROCESSES = 3;
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`;
/** A listening session last ran LISTEN, or the probe of its connection. */
const LISTENING = `SELECT count(*)::int FROM pg_stat_activity
  WHERE datname = current_database() AND (query LIKE 'LISTEN %' OR query = 'SELECT 1')`;

/** Milliseconds until each of these has been credited. */
async function serve(
  places: readonly { readonly ledger: Ledger; readonly account: string }[],
): Promise<number> {
  const beginMs = performance.now();
  const credited = ({ ledger, account }: (typeof places)[number]): Promise<boolean> =>
    ledger.credit(account).then(
      () => true,
      () => false,
    );
  await Promise.all(places.map((place) => until(() => credited(place))));
  return performance.now() - beginMs;
}

describeOn('postgresql', 'Each of several processes', (harness) => {
  test.each(IS_LONG ? [1] : [1, 2])(
    'serves, and listens with one session per shard, after all sessions were ended again and again: seed %i',
    async (seed) => {
      const random = new SeededRandom(seed);
      const shards = [HERE, THERE];
      const topology = await harness.makeTopology({ shards, migrations: ledgerMigrations });
      const open = (): DatabaseRegistry =>
        new DatabaseRegistry(topology, { adapters: [postgresAdapter], warn: () => {} });
      const killers = open();
      const processes = Array.from({ length: PROCESSES }, open);
      onTestFinished(async () => {
        await Promise.all(started.splice(0).map((ledger) => ledger.events.stop(0)));
        await Promise.all([...processes, killers].map((databases) => databases.close(0)));
      });
      const seen = new Set<string>();
      // At least one for each process, which listens where it has a lease.
      const handlers = Array.from({ length: PROCESSES }, (_, index) =>
        handlerOf(`All${index}`, ({ modelId, modelVersion }) => void seen.add(`${modelId} ${modelVersion}`)),
      );
      const limits = { leaseMs: 3_000, surveyMs: 100 };
      const ledgers = processes.map((databases) => deliver(openLedger(databases, { handlers, limits })));
      const places = await Promise.all(
        ledgers.flatMap((ledger) =>
          shards.map(async (shard) => ({ ledger, account: await ledger.open(shard) })),
        ),
      );
      const creditAll = () => Promise.allSettled(places.map(({ ledger, account }) => ledger.credit(account)));
      const countOf = async (text: string): Promise<readonly number[]> =>
        Promise.all(
          shards.map(async (shard) => {
            const { rows } = await killers.database(shard).query({ text, values: [] });
            return text === TERMINATE ? rows.length : Number(rows[0]?.[0]);
          }),
        );
      const listens = async (): Promise<boolean> =>
        (await countOf(LISTENING)).every((count) => count === PROCESSES);
      await creditAll();
      await until(listens);
      let terminated = 0;
      let rounds = 0;
      for (const endAt = performance.now() + TERMINATING_MS; performance.now() < endAt; rounds += 1) {
        for (const count of await countOf(TERMINATE)) terminated += count;
        const pause = sleep(IS_LONG ? 1_000 : random.below(150));
        if (random.chance(0.8)) await creditAll();
        await pause;
      }
      expect(terminated).toBeGreaterThan(rounds);
      await countOf(TERMINATE);
      const servedMs = await serve(places);
      await until(listens);
      // As soon as processes that have just started: a busy machine delays both.
      const fresh = Array.from({ length: PROCESSES }, open);
      processes.push(...fresh);
      const freshMs = await serve(
        fresh.flatMap((databases, index) => {
          const ledger = openLedger(databases);
          return places
            .filter((place) => place.ledger === ledgers[index])
            .map(({ account }) => ({ ledger, account }));
        }),
      );
      const shown = [servedMs, freshMs].map(Math.round);
      console.info(
        `${terminated} sessions terminated; served after ${shown[0]} ms, new ones after ${shown[1]}`,
      );
      expect(servedMs).toBeLessThan(1_000 + 2 * freshMs);
      for (const databases of processes.slice(0, PROCESSES))
        for (const shard of shards) expect(databases.database(shard).stats().listening).toBe(1);
      for (const { ledger, account } of places) {
        const { version } = await ledger.credit(account);
        await until(() => seen.has(`${account} ${version}`));
      }
    },
    TERMINATING_MS + 180_000,
  );
});

describeOn('postgresql', 'A process', (harness) => {
  test('never has two subscriptions, although each probe of a live one fails', async () => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    let probes = 0;
    let most = 0;
    const adapter: DatabaseAdapter = {
      kind: 'postgresql',
      open: (shard, source, options) => {
        const database = postgresAdapter.open(shard, source, options);
        return {
          ...deaf(database),
          listen: (channel, listener) => {
            most = Math.max(most, database.stats().listening ?? 0);
            return database.listen?.(channel, listener) ?? Promise.reject(new Error('It cannot listen'));
          },
          query: (statement, callOptions) => {
            if (statement.values[0] !== 'probe') return database.query(statement, callOptions);
            probes += 1;
            if (probes > 3) return database.query(statement, callOptions);
            return Promise.reject(new DriverFailure('Another session ended', { phase: 'in-flight' }));
          },
        };
      },
    };
    const databases = new DatabaseRegistry(topology, { adapters: [adapter], warn: () => {} });
    onTestFinished(async () => {
      await Promise.all(started.splice(0).map((ledger) => ledger.events.stop(0)));
      await databases.close(0);
    });
    const ledger = deliver(openLedger(databases, { handlers: [handlerOf('All', () => {})] }));
    await ledger.credit(await ledger.open());
    await until(() => probes > 3);
    expect(most).toBe(0);
    expect(databases.database(HERE).stats().listening).toBe(1);
  });
});

describeOn('postgresql', 'The horizon', (harness) => {
  test('is held by a writing transaction in another database of the server, which is named', async () => {
    const databases = await harness.makeShards({ shards: [HERE, THERE], migrations: ledgerMigrations });
    const seen: number[] = [];
    const handlers = [handlerOf('All', ({ modelVersion }) => void seen.push(modelVersion))];
    const ledger = deliver(openLedger(databases, { handlers }));
    const account = await ledger.open(HERE);
    await new TransactionManager(databases.database(THERE)).transaction(async (transaction) => {
      await transaction.query({ text: 'SELECT pg_current_xact_id()', values: [] });
      const [pid] = (
        await transaction.query({ text: 'SELECT pg_backend_pid(), current_database()', values: [] })
      ).rows;
      await ledger.credit(account);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(seen).toEqual([]);
      const { horizon } = (await ledger.events.lag())[0] ?? {};
      expect(horizon?.holders).toContainEqual(expect.objectContaining({ pid: pid?.[0], database: pid?.[1] }));
    });
    await until(() => seen.length === 1, 30_000);
  });

  test('is not held by a transaction that only reads', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const seen: number[] = [];
    const handlers = [handlerOf('All', ({ modelVersion }) => void seen.push(modelVersion))];
    const ledger = deliver(openLedger(databases, { handlers }));
    const account = await ledger.open();
    const manager = new TransactionManager(databases.database(HERE));
    const work = async (): Promise<void> => {
      await ledger.credit(account);
      await until(() => seen.length === 1, 30_000);
    };
    await manager.transaction(
      async (transaction) => {
        await transaction.query({ text: 'SELECT count(*) FROM eventlog.events', values: [] });
        await work();
      },
      { isolationLevel: 'repeatable read' },
    );
  });
});

/** Behaves as PgBouncer in transaction mode: LISTEN succeeds, and no notification arrives. */
const deafAdapter: DatabaseAdapter = {
  kind: 'postgresql',
  open: (shard, source, options) => deaf(postgresAdapter.open(shard, source, options)),
};

function deaf(database: ShardDatabase): ShardDatabase {
  return { ...forwarding(database, {}), listen: () => Promise.resolve({ close: () => Promise.resolve() }) };
}
