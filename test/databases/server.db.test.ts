import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresAdapter } from '../../runtime/databases.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import type { ShardDatabase } from '../../runtime/sharding/shard-database.js';
import { type PostgresServer, startPostgres } from './server.js';
import { serverUrl, testDataSource } from './topology.js';

const one = { text: 'select 1', values: [] };

describe('A server of the tests', () => {
  let server: PostgresServer;
  let database: ShardDatabase;

  beforeAll(async () => {
    server = await startPostgres();
    const source = testDataSource(serverUrl(server, server.database), server, { connectTimeoutMs: 500 });
    database = postgresAdapter.open(ShardIdentifier.of(0, 0), source, { warn: () => {} });
  });
  afterAll(async () => {
    await database?.close(0);
    await server?.destroy();
  });

  it('keeps committed data through a crash', async () => {
    await database.query({ text: 'create table t as select 7 as id', values: [] });
    await server.kill();
    await expect.poll(() => database.stats().open).toBe(0);
    await expect(database.query(one)).rejects.toMatchObject({ phase: 'not-sent', reason: 'unreachable' });
    await server.start();
    expect((await database.query({ text: 'select id from t', values: [] })).rows).toEqual([[7]]);
  });

  it('does not answer while it is paused, and answers afterwards', async () => {
    await database.query(one);
    server.pause();
    try {
      await expect(database.query(one, { timeoutMs: 100 })).rejects.toMatchObject({ phase: 'in-flight' });
      await expect(database.query(one)).rejects.toMatchObject({ phase: 'not-sent', reason: 'unreachable' });
    } finally {
      server.resume();
    }
    expect((await database.query(one)).rows).toEqual([[1]]);
  });

  it('can be stopped and started with other settings', async () => {
    await server.stop();
    await server.start({ work_mem: '5MB' });
    await expect.poll(() => database.stats().open).toBe(0);
    expect((await database.query({ text: 'show work_mem', values: [] })).rows).toEqual([['5MB']]);
  });
});
