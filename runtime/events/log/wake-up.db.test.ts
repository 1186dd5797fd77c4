import { afterEach, expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { postgresAdapter } from '../../databases.js';
import { HERE, THERE } from '../../execution/test-support/accounts.js';
import type { DatabaseAdapter } from '../../sharding/database-adapter.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
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
    try {
      const seen: number[] = [];
      const handlers = [handlerOf('Far', ({ modelVersion }) => void seen.push(modelVersion))];
      const reader = deliver(openLedger(databases, { handlers, limits: { slowPollMs: 60_000 } }));
      const writer = openLedger(databases);
      await writer.credit(await writer.open());
      await until(() => seen.length === 1, 30_000);
      await until(() => reader.warnings.some((warning) => warning.includes('pooler')), 30_000);
      await reader.events.stop();
    } finally {
      await databases.close(0);
    }
  });
});

/** How long sessions are terminated, in milliseconds. */
const TERMINATING_MS = Number(process.env['FW_PROOF_TERMINATING_MS'] ?? 3_000);
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`;
/** A listening session last ran LISTEN, or the probe of its connection. */
const LISTENING = `SELECT count(*)::int FROM pg_stat_activity
  WHERE datname = current_database() AND (query LIKE 'LISTEN %' OR query = 'SELECT 1')`;

describeOn('postgresql', 'A process', (harness) => {
  test('serves and listens with one session after all of its sessions were ended many times', async () => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    const open = (): DatabaseRegistry =>
      new DatabaseRegistry(topology, { adapters: [postgresAdapter], warn: () => {} });
    const [databases, killers] = [open(), open()];
    try {
      const killer = killers.database(HERE);
      const seen = new Set<number>();
      const handlers = [handlerOf('All', ({ modelVersion }) => void seen.add(modelVersion))];
      const ledger = deliver(openLedger(databases, { handlers }));
      const account = await ledger.open();
      await ledger.credit(account);
      await until(() => seen.size === 1);
      // Not in one transaction, which would see the sessions of its first statement only.
      const terminate = async (): Promise<number> =>
        (await killer.query({ text: TERMINATE, values: [] })).rows.length;
      let terminated = 0;
      let rounds = 0;
      for (const endAt = performance.now() + TERMINATING_MS; performance.now() < endAt; rounds += 1) {
        terminated += await terminate();
        await Promise.allSettled(Array.from({ length: rounds % 8 }, () => ledger.credit(account)));
      }
      expect(terminated).toBeGreaterThan(rounds);
      await terminate();
      const from = performance.now();
      const served = until(async () =>
        ledger.credit(account).then(
          () => true,
          () => false,
        ),
      );
      await served;
      if (process.env['FW_PROOF_TERMINATING_MS'] !== undefined)
        expect(performance.now() - from).toBeLessThan(1_000);
      const listening = async (): Promise<unknown> =>
        (await killer.query({ text: LISTENING, values: [] })).rows[0]?.[0];
      await until(async () => (await listening()) === 1);
      expect(databases.database(HERE).stats().listening).toBe(1);
      const { version } = await ledger.credit(account);
      await until(() => seen.has(version));
    } finally {
      await Promise.all(started.splice(0).map((ledger) => ledger.events.stop(0)));
      await Promise.all([databases.close(0), killers.close(0)]);
    }
  }, 120_000);

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
    try {
      const ledger = deliver(openLedger(databases, { handlers: [handlerOf('All', () => {})] }));
      await ledger.credit(await ledger.open());
      await until(() => probes > 3);
      expect(most).toBe(0);
      expect(databases.database(HERE).stats().listening).toBe(1);
    } finally {
      await Promise.all(started.splice(0).map((ledger) => ledger.events.stop(0)));
      await databases.close(0);
    }
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
  return {
    shard: database.shard,
    kind: database.kind,
    description: database.description,
    sessionState: database.sessionState,
    query: (statement, options) => database.query(statement, options),
    acquire: (options) => database.acquire(options),
    stats: () => database.stats(),
    listen: () => Promise.resolve({ close: () => Promise.resolve() }),
    close: (graceMs) => database.close(graceMs),
  };
}
