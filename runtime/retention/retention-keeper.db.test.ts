import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { testDataSource, topologyOf } from '../../test/databases/topology.js';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { assembleApplication } from '../application.js';
import { postgresAdapter } from '../databases.js';
import { interceptedDatabase } from '../events/test-support/faulty-databases.js';
import { ledgerMigrations, openLedger, until } from '../events/test-support/ledger.js';
import { accountApplication, HERE } from '../execution/test-support/accounts.js';
import { LockStore } from '../locks/lock-store.js';
import { createMetrics } from '../observability/prometheus.js';
import { DatabaseRegistry } from '../sharding/database-registry.js';
import { RetentionKeeper, type RetentionSettings } from './retention-keeper.js';
import { ownedShards } from './test-support/owned-shards.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

interface Kept {
  readonly keeper: RetentionKeeper;
  readonly informed: string[];
  readonly warned: string[];
}

function keeperOf(
  databases: DatabaseRegistry,
  settings: RetentionSettings,
  now = new Date(),
  database = databases.database(HERE),
): Kept {
  const [informed, warned]: [string[], string[]] = [[], []];
  const keeper = new RetentionKeeper({
    settings,
    databases: () => [database],
    now: async () => now,
    random: () => 0.5,
    inform: (message) => informed.push(message),
    warn: (message) => warned.push(message),
  });
  return { keeper, informed, warned };
}

describeOnEachAdapter('Automatic retention', (harness) => {
  test('is run by one process at a time, which creates partitions as time passes and drops old ones', async () => {
    const databases = await ownedShards(harness);
    const ledger = openLedger(databases);
    await ledger.credit(await ledger.open());
    const later = new Date(Date.now() + 60 * DAY_MS);
    const settings = { keepDays: 30 };
    const [first, second] = [keeperOf(databases, settings, later), keeperOf(databases, settings, later)];
    await ledger.rows("UPDATE eventlog.events SET created_date = created_date - interval '2 days'");
    await Promise.all([first.keeper.round(), second.keeper.round()]);
    await second.keeper.round();
    const informed = [...first.informed, ...second.informed];
    expect(informed).toHaveLength(1);
    expect(informed[0]).toMatch(
      /^Retention on shard \(0, 0\): made events_\d{8}t000000, .*dropped or emptied events_/,
    );
    expect([...first.warned, ...second.warned]).toEqual([]);
    expect(await ledger.rows('SELECT FROM eventlog.events')).toEqual([]);
    const { status } = second.keeper;
    expect(status).toMatchObject([{ shard: HERE, allowed: true, kept: 0, failures: 0 }]);
    expect(status[0]?.lastDone).toBeInstanceOf(Date);
    expect(status[0]?.partitionsUntil?.getTime()).toBeGreaterThan(later.getTime() + 4 * 7 * DAY_MS);
    // An ended turn is due again after its interval, and a vanished holder loses its turn.
    await ledger.rows("UPDATE eventlog.maintenance SET done_date = now() - interval '2 hours'");
    const gone = { name: 'fw:retention', owner: randomUUID() };
    expect(await new LockStore(databases.database(HERE)).acquire(gone, 60_000)).toBeDefined();
    const third = keeperOf(databases, settings, new Date(later.getTime() + 14 * DAY_MS));
    await third.keeper.round();
    expect(third.informed).toEqual([]);
    await ledger.rows("UPDATE eventlog.locks SET expires_date = now() - interval '1 second'");
    await third.keeper.round();
    expect(third.informed).toHaveLength(1);
  }, 120_000);

  test('is not repeated by a process that was late for its turn', async () => {
    const databases = await ownedShards(harness);
    const first = keeperOf(databases, {});
    let runs = 0;
    const late = interceptedDatabase(databases.database(HERE), async (call, text) => {
      if (text.includes('INTO eventlog.locks')) await first.keeper.round();
      if (text.includes('INTO eventlog.maintenance')) runs += 1;
      return call();
    });
    const second = keeperOf(databases, {}, new Date(), late);
    await second.keeper.round();
    expect([first.keeper.status[0]?.lastDone, runs, second.warned]).toEqual([expect.any(Date), 0, []]);
  });

  test('is part of every application, which its metrics show', async () => {
    const databases = await harness.makeShards({
      shards: [HERE],
      migrations: accountApplication.migrations,
      owner: 'retention',
    });
    const informed: string[] = [];
    const application = assembleApplication(accountApplication, databases, {
      namespace: 'test',
      collaborators: {},
      retention: { ahead: 6, everyMs: 60 },
      inform: (message) => informed.push(message),
      warn: () => {},
    });
    try {
      await until(() => application.retention.status[0]?.lastDone !== undefined);
      expect(informed[0]).toContain('Retention on shard (0, 0): made events_');
      const metrics = createMetrics({
        statistics: application.statistics,
        retention: () => application.retention.status,
      });
      const text = await metrics.render();
      for (const name of ['last_done_timestamp_seconds', 'partitions_until_timestamp_seconds'])
        expect(text).toMatch(new RegExp(`^fw_retention_${name}{shard="\\(0, 0\\)"} \\d{10}`, 'm'));
      expect(text).toContain('fw_retention_failures_total{shard="(0, 0)"} 0');
    } finally {
      await Promise.all([application.retention.stop(), application.events.stop(0)]);
    }
  }, 120_000);

  test('ends by itself when its databases are closed before it is stopped', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    await databases.close(0);
    let asked = 0;
    const keeper = new RetentionKeeper({
      settings: { everyMs: 1 },
      databases: () => {
        asked += 1;
        return [databases.database(HERE)];
      },
      random: () => 0.5,
      inform: () => {},
      warn: () => {},
    });
    keeper.start();
    await until(() => asked > 0);
    await expect(keeper.stop()).resolves.toBeUndefined();
  });

  test('reports once which partitions it has to keep, and why', async () => {
    const databases = await ownedShards(harness);
    const ledger = openLedger(databases);
    await ledger.credit(await ledger.open());
    const later = new Date(Date.now() + 60 * DAY_MS);
    const { keeper, warned } = keeperOf(databases, { keepDays: 30, everyMs: 0 }, later);
    await keeper.round();
    await keeper.round();
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain('some rows are younger than a day');
    expect(keeper.status).toMatchObject([{ kept: 2 }]);
  }, 120_000);
});

describeOn('postgresql', 'Retention by a role that does not own the tables', (harness) => {
  test('is left to the owner, and the log reports it', async () => {
    const owner = await ownedShards(harness);
    const session = await owner.database(HERE).acquire();
    const role = `fw_keeper_${process.pid}`;
    await session.script(
      `create role ${role} login password '${role}'; grant usage on schema eventlog to ${role}`,
    );
    const { url } = owner.memberConfig(HERE).primary;
    const source = testDataSource(url, { user: role, password: role });
    const databases = new DatabaseRegistry(topologyOf([[HERE, source]]), { adapters: [postgresAdapter] });
    try {
      const configured = keeperOf(databases, { keepDays: 30 });
      await configured.keeper.round();
      await configured.keeper.round();
      expect(configured.warned).toHaveLength(1);
      expect(configured.warned[0]).toContain('Run fw-gen events retain daily as the owner');
      expect(configured.keeper.status).toMatchObject([{ allowed: false }]);
      // No maintenance is due so far.
      const plain = keeperOf(databases, {});
      await plain.keeper.round();
      expect(plain.warned).toEqual([]);
      const late = keeperOf(databases, {}, new Date(Date.now() + 60 * DAY_MS));
      await late.keeper.round();
      expect(late.warned[0]).toContain('The partitions end on 20');
      await expect(openLedger(databases).events.retain({ keepDays: 30 })).rejects.toMatchObject({
        code: 'FW_DATABASE',
      });
    } finally {
      await databases.close(0);
      await session.script(`drop owned by ${role}; drop role ${role}`);
      session.release();
    }
  });
});
