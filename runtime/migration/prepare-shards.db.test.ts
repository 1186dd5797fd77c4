import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { topologyOf } from '../../test/databases/topology.js';
import { describeOn } from '../../test/databases/vitest.js';
import type { DataSourceConfig, ShardingTopology } from '../config/types.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { MigrationError, ShardIdentityError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { changedMembers, primaryOf } from '../sharding/test-support/changed-topology.js';
import { migrate } from './migrate.js';
import type { Migration } from './migration.js';
import { type PrepareOptions, prepareShards, type ShardPreparation } from './prepare-shards.js';

const [first, second, third] = [
  ShardIdentifier.of(0, 0),
  ShardIdentifier.of(1, 0),
  ShardIdentifier.of(1, 1),
] as const;
const things = { name: '0001_things', up: 'create table things (id uuid primary key)' };
const PATIENCE = { timeout: 60_000 };

/** The topology with its shards' databases in another order. */
function swapped(topology: ShardingTopology, ...order: readonly ShardIdentifier[]): ShardingTopology {
  const shards = topology.groups.flatMap(({ members }) => members.map(({ shard }) => shard));
  return topologyOf(
    shards.map((shard, index) => [shard, primaryOf(topology, order[index] ?? shard)] as const),
  );
}

describeOn('postgresql', 'The preparation of shards', (harness) => {
  const three = (migrated: readonly Migration[] | false = []) =>
    harness.makeTopology({
      shards: [first, second, third],
      ...(migrated === false ? { migrated } : { migrations: migrated }),
    });

  const prepared = async (
    topology: ShardingTopology,
    work: (databases: DatabaseRegistry, preparation: ShardPreparation) => Promise<void>,
    options: Partial<PrepareOptions> = {},
  ): Promise<readonly string[]> => {
    const warnings: string[] = [];
    const databases = openDatabases(topology, { warn: () => {} });
    try {
      const warn = (message: string) => warnings.push(message);
      await work(
        databases,
        await prepareShards(databases, { migrations: [things], models: [], warn, ...options }),
      );
    } finally {
      await databases.close(0);
    }
    return warnings;
  };
  const rows = async (databases: DatabaseRegistry, shard: ShardIdentifier, text: string) =>
    (await databases.database(shard).query({ text, values: [] })).rows;
  const things0 = "select to_regclass('things') is not null";

  it('tries many unreachable shards so seldom that the others notice nothing', async () => {
    let attempts = 0;
    const refusing = createServer((socket) => {
      attempts += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void refusing.close());
    await once(refusing, 'listening');
    const { port } = refusing.address() as AddressInfo;
    const known = primaryOf(await harness.makeTopology({ shards: [first], migrated: false }), first);
    if (known.url.kind !== 'postgresql') throw new Error('A server');
    const { url } = known;
    const away = Array.from({ length: 200 }, (_, index) => {
      const source = { ...known, url: { ...url, host: '127.0.0.1', port, database: `away_${index}` } };
      return [ShardIdentifier.of(1 + (index >> 6), index & 63), source] as const;
    });
    await prepared(topologyOf([[first, known], ...away]), async (databases) => {
      expect(databases.withheld(first)).toBeUndefined();
      const before = attempts;
      expect(before).toBeGreaterThanOrEqual(away.length);
      await sleep(2_000);
      // Pauses of 200 shards are 5 to 10 seconds.
      expect(attempts - before).toBeLessThan(150);
    });
  });

  it('starts without any shard, if each may recover by itself', async () => {
    const topology = await three();
    const nowhere = changedMembers(topology, ({ primary, ...member }) => ({
      ...member,
      primary: { ...primary, url: { ...primary.url, port: 1 } as DataSourceConfig['url'] },
    }));
    const warnings = await prepared(nowhere, async (databases) => {
      for (const shard of [first, second, third])
        expect(databases.withheld(shard)).toContain('cannot connect');
    });
    expect(warnings).toHaveLength(3);
  });

  it('withholds a database of another shard, and serves with the rest', async () => {
    const topology = await three();
    await prepared(topology, async () => {});
    const warnings = await prepared(swapped(topology, first, third, second), async (databases) => {
      expect(databases.withheld(first)).toBeUndefined();
      // A slow database is first withheld for that reason.
      const reasonOf = (shard: ShardIdentifier) => expect.poll(() => databases.withheld(shard), PATIENCE);
      await reasonOf(second).toContain('is shard (1, 1), but the configuration says');
      await reasonOf(third).toContain('is shard (1, 0), but the configuration says');
      const failure = rows(databases, second, 'select 1');
      await expect(failure).rejects.toThrow('out of service');
      await expect(failure).rejects.toMatchObject({ phase: 'not-sent', retryAfterMs: 1_000 });
    });
    expect(warnings.filter((warning) => warning.includes('but the configuration says'))).toHaveLength(2);
    const all = swapped(topology, second, third, first);
    await expect(prepared(all, async () => {})).rejects.toThrow(ShardIdentityError);
  });

  it('serves without a shard whose migration fails, adds it once it is fixed, and fails if all shards fail', async () => {
    const topology = await three();
    const owner = harness.keep(openDatabases(topology));
    await rows(owner, third, 'create table things ()');
    const failed: string[] = [];
    await prepared(topology, async (databases, preparation) => {
      expect(databases.withheld(second)).toBeUndefined();
      failed.push(databases.withheld(third) ?? '');
      expect(await rows(databases, second, things0)).toEqual([[true]]);
      await rows(owner, third, 'drop table things');
      preparation.retry();
      await expect.poll(() => databases.withheld(third), PATIENCE).toBeUndefined();
      expect(await rows(databases, third, things0)).toEqual([[true]]);
    });
    expect(failed).toEqual([expect.stringContaining('Migration 0001_things failed on shard (1, 1)')]);
    const broken = { migrations: [things, { name: '0002_broken', up: 'create tabel x ()' }] };
    await expect(prepared(topology, async () => {}, broken)).rejects.toThrow(
      'Migration 0002_broken failed on shard (0, 0)',
    );
    // A deployment step does not continue with only a part of the shards.
    await rows(owner, third, 'create table more ()');
    const more = { name: '0003_more', up: 'create table more ()' };
    await expect(migrate(owner, { migrations: [things, more] })).rejects.toThrow(MigrationError);
  });

  it('verifies shards where migrations run separately, and withholds a shard until it is migrated', async () => {
    const topology = await three(false);
    const verifying = { migrateAtStart: false };
    await expect(prepared(topology, async () => {}, verifying)).rejects.toThrow(
      /Shard \(0, 0\) lacks the migrations 0001_tables, 0001_things\. .*fw-gen migrate up/,
    );
    const later = ['0002_a', '0003_b', '0004_c'].map((name) => ({ name, up: 'select 1' }));
    await expect(
      prepared(topology, async () => {}, { migrateAtStart: false, migrations: [things, ...later] }),
    ).rejects.toThrow('lacks the migrations 0001_tables, 0001_things, 0002_a, and 2 more. ');
    const owner = harness.keep(openDatabases(topology));
    const known = primaryOf(await harness.makeTopology({ shards: [first], migrations: [things] }), first);
    const late = primaryOf(topology, second);
    const both = topologyOf([
      [first, known],
      [second, late],
    ]);
    await prepared(
      both,
      async (databases) => {
        expect(databases.withheld(first)).toBeUndefined();
        expect(databases.withheld(second)).toContain('Shard (1, 0) lacks the migrations');
        expect(await rows(owner, second, "select to_regclass('eventlog.shard') is null")).toEqual([[true]]);
        await migrate(owner, { migrations: [things] });
        await expect.poll(() => databases.withheld(second), PATIENCE).toBeUndefined();
      },
      verifying,
    );
  });
});
