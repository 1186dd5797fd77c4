import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresServer } from './server.js';
import { type ReplicatedServers, startReplicated } from './standby.js';

describe('A server with a synchronous standby', () => {
  let servers: ReplicatedServers;

  beforeAll(async () => {
    servers = await startReplicated('synchronous', {}, (primary) => run(primary, 'create table t (id int4)'));
  });
  afterAll(async () => {
    await servers?.destroy();
  });

  it('acknowledges commits that the standby has, and keeps them after its promotion', async () => {
    await run(servers.primary, 'insert into t values (1)');
    await servers.untilReplicated();
    expect(await ids(servers.standby)).toEqual([1]);
    await servers.detach();
    const unacknowledged = run(servers.primary, 'insert into t values (2)').catch((error: unknown) => error);
    await expect.poll(() => waiting(servers.primary)).toBe(1);
    await servers.failOver();
    expect(await unacknowledged).toBeInstanceOf(Error);
    await run(servers.standby, 'insert into t values (3)');
    expect(await ids(servers.standby)).toEqual([1, 3]);
  });
});

async function rowsOf(server: PostgresServer, text: string): Promise<readonly unknown[][]> {
  const { host, port, user, password, database } = server;
  const client = new pg.Client({ host, port, user, password, database });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

async function run(server: PostgresServer, text: string): Promise<void> {
  await rowsOf(server, text);
}

async function ids(server: PostgresServer): Promise<readonly unknown[]> {
  return (await rowsOf(server, 'select id from t order by id')).map(([id]) => id);
}

async function waiting(server: PostgresServer): Promise<number> {
  return (await rowsOf(server, `select from pg_stat_activity where wait_event = 'SyncRep'`)).length;
}
