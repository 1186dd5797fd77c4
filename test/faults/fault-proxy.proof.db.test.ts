import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { PostgresDatabase } from '../../runtime/postgres/postgres-database.js';
import { serverUrl, testDataSource } from '../databases/topology.js';
import { testServer } from '../databases/vitest.js';
import type { Fault } from './fault.js';
import { FaultProxy } from './fault-proxy.js';

const server = testServer();

let proxy: FaultProxy;
let direct: pg.Client;
let table: string;

async function connect({ port }: { readonly port: number }): Promise<pg.Client> {
  const { host, user, password, database } = server;
  const client = new pg.Client({ host, port, user, password, database });
  client.on('error', () => {});
  await client.connect();
  return client;
}

beforeEach(async () => {
  proxy = await FaultProxy.start(server);
  direct = await connect(server);
  table = `fault_proxy_${process.pid}`;
  await direct.query(`create unlogged table ${table} (id int)`);
});

afterEach(async () => {
  await direct.query(`drop table ${table}`);
  await direct.end();
  await proxy.stop();
});

/**
 * Inserts one row through the proxy with this fault. Returns the end of the client's call and the state of the table.
 */
async function insertWith(
  fault: Fault,
): Promise<{ readonly answer: string; readonly rows: () => Promise<number> }> {
  const client = await connect(proxy);
  let faults: Fault[] = [fault];
  proxy.nextFault = () => faults.shift();
  const answer = await Promise.race([
    client.query(`insert into ${table} values ($1)`, [1]).then(
      () => 'answered',
      () => 'lost',
    ),
    new Promise<string>((resolve) => setTimeout(() => resolve('silence'), 400)),
  ]);
  faults = [];
  client.end().catch(() => {});
  const rows = async (): Promise<number> => (await direct.query(`select from ${table}`)).rowCount ?? 0;
  return { answer, rows };
}

describe('The fault proxy', () => {
  it('forwards all bytes unchanged without a fault', async () => {
    const client = await connect(proxy);
    const text = 'x'.repeat(300_000);
    expect((await client.query('select $1::text as text', [text])).rows).toEqual([{ text }]);
    await client.end();
    await expect.poll(() => proxy.open).toBe(0);
    expect(proxy.struckInAll).toBe(0);
  });

  const tear = (direction: 'request' | 'reply', share: number, how: 'reset' | 'end'): Fault => ({
    ...{ kind: 'tear', direction, share, how },
  });

  it.each<[string, Fault, string, number]>([
    ['cuts a request before it is sent', tear('request', 0, 'end'), 'lost', 0],
    ['cuts a request at its beginning', tear('request', 0.3, 'end'), 'lost', 0],
    ['cuts a request before its end', tear('request', 0.9, 'end'), 'lost', 0],
    ['cuts a reply (reset) after it has been applied', tear('reply', 0.5, 'reset'), 'lost', 1],
    ['cuts a reply (end) after it has been applied', tear('reply', 0.5, 'end'), 'lost', 1],
    ['loses only the reply', { kind: 'lost-reply' }, 'lost', 1],
    ['falls silent in the request', { kind: 'stall', direction: 'request', share: 0.5 }, 'silence', 0],
    ['falls silent in the reply', { kind: 'stall', direction: 'reply', share: 0.5 }, 'silence', 1],
  ])('%s', async (_, fault, expected, applied) => {
    const { answer, rows } = await insertWith(fault);
    expect([answer, await rows()]).toEqual([expected, applied]);
  });

  it('delivers a request after its client has been cut off', async () => {
    const { answer, rows } = await insertWith({ kind: 'late', delayMs: 100 });
    expect(answer).toBe('lost');
    expect(await rows()).toBe(0);
    await expect.poll(rows).toBe(1);
  });

  it('delays a reply', async () => {
    const startedMs = performance.now();
    const { answer } = await insertWith({ kind: 'delay', direction: 'reply', delayMs: 100 });
    expect(answer).toBe('answered');
    expect(performance.now() - startedMs).toBeGreaterThan(95);
    expect([...proxy.struck]).toEqual([['delay', 1]]);
  });
});

describe('A statement behind one that was refused', () => {
  it('does not get the refusal of the first one if the connection is lost before the server is ready again', async () => {
    const source = testDataSource(serverUrl({ ...server, port: proxy.port }, server.database), server);
    const { url } = source;
    if (url.kind !== 'postgresql') throw new Error('Not on a server');
    const database = new PostgresDatabase(ShardIdentifier.of(0, 0), url, source);
    const pipeline = {};
    const divide = (by: number): Promise<unknown> =>
      database
        .query({ name: 'divide', text: 'select 6 / $1::int4', values: [by] }, { pipeline })
        .catch((error: unknown) => error);
    await divide(1);
    // The whole error passes, and a part of the message that the server is ready.
    const faults: Fault[] = [{ kind: 'tear', direction: 'reply', share: 0.985, how: 'reset' }];
    proxy.nextFault = () => faults.shift();
    const [refused, behind] = await Promise.all([divide(0), divide(2)]);
    await database.close(0);
    expect(refused).toMatchObject({ phase: 'in-flight', sqlState: '22012' });
    expect(behind).toMatchObject({ phase: 'in-flight', sqlState: undefined });
    expect(proxy.struck.get('tear')).toBe(1);
  });
});
