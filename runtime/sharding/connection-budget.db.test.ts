import { expect, it } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { DatabaseRegistry } from './database-registry.js';

const SHARDS = Array.from({ length: 5 }, (_, member) => ShardIdentifier.of(member % 2, member));
const sleep = { text: 'select pg_sleep(0.05)', values: [] };

describeOn('postgresql', 'The connections of one process', (harness) => {
  const openWith = async (maximumConnections: number): Promise<DatabaseRegistry> => {
    // Long enough for every turn on a machine that opens connections slowly.
    const dataSource = { connectTimeoutMs: 20_000, statementTimeoutMs: 20_000 };
    const topology = await harness.makeTopology({ shards: SHARDS, migrated: false, dataSource });
    return harness.keep(openDatabases({ ...topology, maximumConnections }));
  };
  const open = (databases: DatabaseRegistry): number =>
    SHARDS.reduce((sum, shard) => sum + databases.database(shard).stats().open, 0);

  it('stay within one limit over all shards, and serve every caller', async () => {
    const databases = await openWith(4);
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, open(databases));
    }, 1);
    const calls = Array.from({ length: 60 }, (_, index) => {
      const shard = SHARDS[index % SHARDS.length];
      return shard === undefined ? undefined : databases.database(shard).query(sleep);
    });
    await Promise.all(calls);
    clearInterval(watching);
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(1);
  });

  it('are opened on demand, and an idle one is closed for another shard', async () => {
    const databases = await openWith(1);
    expect(open(databases)).toBe(0);
    for (const shard of [...SHARDS, ...SHARDS]) {
      await databases.database(shard).query({ text: 'select 1', values: [] });
      expect(open(databases)).toBe(1);
    }
  });

  it('are shared with a later shard, although another one is continuously busy', async () => {
    const databases = await openWith(4);
    const [busy, late] = SHARDS;
    if (busy === undefined || late === undefined) throw new Error('Five shards');
    let going = true;
    const workers = Array.from({ length: 12 }, async () => {
      while (going) await databases.database(busy).query(sleep);
    });
    await databases.database(busy).query(sleep);
    // A pool that had to wait until the other one is idle would fail at its deadline.
    const answer = await databases.database(late).query({ text: 'select 1', values: [] });
    expect(answer.rows).toEqual([[1]]);
    going = false;
    await Promise.all(workers);
  });
});
