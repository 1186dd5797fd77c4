import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startPostgres } from '../../test/databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { migrate } from '../migration/migrate.js';

const SHARDS = [ShardIdentifier.of(0, 0), ShardIdentifier.of(0, 1)] as const;
const counters = { name: '0001_counters', up: 'create table counters (value int4)' };

const servers: { destroy(): Promise<void> }[] = [];
afterAll(async () => {
  for (const server of servers.reverse()) await server.destroy();
});

test('A server with two shards is replaced by its standby in one reload', async () => {
  const primary = await startPostgres({ fsync: 'off', full_page_writes: 'off' });
  servers.push(primary);
  const topologyAt = (server: typeof primary | Awaited<ReturnType<typeof primary.standby>>) => {
    const source = (name: string) =>
      testDataSource(serverUrl(server, name), server, { allowUnsafe: ['fsync', 'full_page_writes'] });
    return topologyOf(SHARDS.map((shard) => [shard, source(`shard_${shard.member}`)] as const));
  };
  const on = async (name: string, text: string, server: Parameters<typeof topologyAt>[0] = primary) => {
    const source = testDataSource(serverUrl(server, name), server);
    const databases = openDatabases(topologyOf([[SHARDS[0], source]]), { warn: () => {} });
    try {
      return (await databases.database(SHARDS[0]).query({ text, values: [] })).rows;
    } finally {
      await databases.close(0);
    }
  };
  for (const { member } of SHARDS) await on('postgres', `create database shard_${member}`);
  const databases = openDatabases(topologyAt(primary), { warn: () => {} });
  onTestFinished(() => databases.close(0));
  await migrate(databases, { migrations: [counters] });
  const standby = await primary.standby();
  servers.push(standby);
  for (const { member } of SHARDS)
    await on('postgres', `alter database shard_${member} set default_transaction_read_only = on`);
  const connected = `select count(*)::int4 from pg_stat_activity where datname like 'shard_%'`;
  for (const shard of SHARDS) await databases.database(shard).query({ text: 'select 1', values: [] });
  expect(await on('postgres', connected)).toEqual([[2]]);
  const reloaded = databases.reload(topologyAt(standby), { patienceMs: 60_000 });
  // Both have closed their connections to the old server before the standby is promoted.
  await expect.poll(() => on('postgres', connected), { timeout: 60_000 }).toEqual([[0]]);
  await on('postgres', 'select pg_promote()', standby);
  for (const { member } of SHARDS)
    await on('postgres', `alter database shard_${member} reset default_transaction_read_only`, standby);
  expect(await reloaded).toHaveLength(2);
  for (const shard of SHARDS)
    await databases.database(shard).query({ text: 'insert into counters values (1)', values: [] });
}, 180_000);
