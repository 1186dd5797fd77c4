import pino from 'pino';
import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { readinessOf } from '../health.js';
import { shardHealth } from './shard-health.js';

describeOnEachAdapter('The health of a shard', (harness) => {
  test('says that its server refuses writes, and logs it once', async () => {
    const databases = await harness.makeShards({ shards: [HERE], dataSource: { maximumPoolSize: 1 } });
    const lines: string[] = [];
    const health = shardHealth(databases, pino({}, { write: (line) => lines.push(JSON.parse(line).msg) }));
    expect(readinessOf(await health()).status).toBe('ready');
    await databases.database(HERE).query({ text: 'SET default_transaction_read_only = on', values: [] });
    const code = 'FW_SHARD_UNAVAILABLE';
    expect(readinessOf([...(await health()), ...(await health())])).toMatchObject({
      status: 'degraded',
      shards: [
        { status: 'read-only', code },
        { status: 'read-only', code },
      ],
    });
    await databases.database(HERE).query({ text: 'RESET default_transaction_read_only', values: [] });
    expect(readinessOf(await health()).status).toBe('ready');
    expect(lines).toEqual(['shard is read-only', 'shard is up']);
  });
});
