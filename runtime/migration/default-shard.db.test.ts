import { expect, it } from 'vitest';
import { startPostgres } from '../../test/databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import type { ShardingTopology } from '../config/types.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardIdentityError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { primaryOf } from '../sharding/test-support/changed-topology.js';
import { storeDefaultShard } from './default-shard.js';
import { migrateShards } from './migrate.js';
import { prepareShards } from './prepare-shards.js';

const [first, second, third] = [
  ShardIdentifier.of(0, 0),
  ShardIdentifier.of(1, 0),
  ShardIdentifier.of(1, 1),
] as const;
const PATIENCE = { timeout: 60_000 };
const STORED = 'select group_number, member_number from eventlog.default_shard';

/** Starts a process, which ends after `work`. */
async function start(
  databases: DatabaseRegistry,
  work: (databases: DatabaseRegistry) => Promise<void> = async () => {},
): Promise<void> {
  try {
    await prepareShards(databases, { migrations: [], models: [], warn: () => {} });
    await work(databases);
  } finally {
    await databases.close(0);
  }
}

async function storedOn(databases: DatabaseRegistry, shard: ShardIdentifier): Promise<unknown> {
  return (await databases.database(shard).query({ text: STORED, values: [] })).rows;
}

const serves = (databases: DatabaseRegistry, shard: ShardIdentifier): Promise<void> =>
  expect.poll(() => databases.withheld(shard), PATIENCE).toBeUndefined();

describeOnEachAdapter('The default shard of a cluster', (harness) => {
  it('is stored on every shard by the first start, also after a separate migration', async () => {
    const databases = await harness.makeShards({ shards: [first, second] });
    await start(databases, async () => {
      for (const shard of [first, second]) expect(await storedOn(databases, shard)).toEqual([[0, 0]]);
    });
  });
});

describeOnEachAdapter('Migrations with another default shard', (harness) => {
  it('refuse, unchanged, the databases that store another one, and accept those that store none', async () => {
    const databases = await harness.makeShards({ shards: [first, second], migrated: false });
    const table = (name: string) => ({ name, up: `create table ${name} (id int4)` });
    const unmarked = await migrateShards(databases, { migrations: [table('one')] });
    expect(unmarked.map(({ ok }) => ok)).toEqual([true, true]);
    await storeDefaultShard(databases.database(second), second);
    const [accepted, refused] = await migrateShards(databases, {
      migrations: [table('one'), table('two')],
    });
    expect(accepted).toMatchObject({ ok: true, value: { applied: ['two'] } });
    expect(refused).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/default shard is \(1, 0\), but .* is \(0, 0\)/) },
    });
    const text = "select to_regclass('two') is null";
    expect((await databases.database(second).query({ text, values: [] })).rows).toEqual([[true]]);
  });
});

describeOn('postgresql', 'A process with another default shard', (harness) => {
  const open = (topology: ShardingTopology, defaultShard: ShardIdentifier): DatabaseRegistry =>
    openDatabases({ ...topology, defaultShard }, { warn: () => {} });

  it('does not start, names both shards, and changes nothing', async () => {
    const topology = await harness.makeTopology({ shards: [first, second, third] });
    const without = topologyOf(
      topology.groups.flatMap(({ members }) => members.slice(0, 1)).map((each) => [each.shard, each.primary]),
    );
    await start(open(without, first));
    // The new default shard is a new database, which knows none.
    const refused = start(open(topology, third));
    await expect(refused).rejects.toThrow(ShardIdentityError);
    await expect(refused).rejects.toThrow(/default shard is \(0, 0\), but .* is \(1, 1\)/);
    await start(open(topology, first), (databases) => serves(databases, third));
  });

  it('starts once an operator has moved it', async () => {
    const topology = await harness.makeTopology({ shards: [first, second] });
    await start(open(topology, first));
    const owner = openDatabases(topology);
    const text = 'update eventlog.default_shard set group_number = 1, member_number = 0';
    for (const shard of [first, second]) await owner.database(shard).query({ text, values: [] });
    await owner.close(0);
    await start(open(topology, second));
    await expect(start(open(topology, first))).rejects.toThrow(ShardIdentityError);
  });

  it('starts beside others with the same one', async () => {
    const topology = await harness.makeTopology({ shards: [first, second] });
    await Promise.all(
      [1, 2, 3].map(() => start(open(topology, first), (databases) => serves(databases, second))),
    );
  });

  it('does not serve a shard that was out of reach at its start', async () => {
    const server = await startPostgres();
    try {
      const known = primaryOf(await harness.makeTopology({ shards: [second] }), second);
      const topology = topologyOf([
        [first, testDataSource(serverUrl(server, server.database), server)],
        [second, known],
      ]);
      await start(open(topologyOf([[first, primaryOf(topology, first)]]), first));
      await server.stop();
      await start(open(topology, second), async (databases) => {
        expect(databases.withheld(second)).toBeUndefined();
        await server.start();
        await expect
          .poll(() => databases.withheld(first), PATIENCE)
          .toContain('belongs to a cluster whose default shard is (0, 0)');
      });
    } finally {
      await server.destroy();
    }
  });
});
