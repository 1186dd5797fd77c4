import { ShardIdentifier } from 'fw-actions';
import { parseConfig } from 'fw-actions/config';
import { openDatabases } from 'fw-actions/operate';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { checkProcesses } from '../../runtime/doctor/process-check.js';
import { FakeProcess } from '../../runtime/http/test-support/fake-process.js';
import { type PostgresServer, startPostgres } from '../../test/databases/server.js';
import { testServer } from '../../test/databases/vitest.js';
import {
  configurationOf,
  insertWallet,
  type Member,
  serveWallet,
  sql,
} from './test-support/served-wallet.js';
import { storedWallet } from './test-support/wallets.js';

const PATIENCE = { timeout: 90_000 };

let server: PostgresServer;
const folder = temporaryFolder();
/** The member whose server is down at the start. */
let late: Member;
let early: readonly Member[];

beforeAll(async () => {
  server = await startPostgres();
  const memberOf = (group: number, member: number): Member => ({
    shard: ShardIdentifier.of(group, member),
    server: group === 1 && member === 2 ? server : testServer(),
    database: `fw_start_${process.pid}_${group}_${member}`,
    source: { 'maximum-pool-size': 3 },
  });
  early = [memberOf(0, 0), memberOf(0, 1), memberOf(1, 0), memberOf(1, 1)];
  late = memberOf(1, 2);
  for (const each of [...early, late]) await sql(each.server, `create database ${each.database}`);
  await server.stop();
}, 180_000);

afterAll(async () => {
  for (const { database } of early)
    await sql(testServer(), `drop database if exists ${database} with (force)`);
  await server?.destroy();
}, 180_000);

test('a process serves the shards whose servers answer at its start, and the last one once it answers', async () => {
  const configuration = configurationOf([...early, late], { execution: { 'timeout-ms': 30_000 } });
  const port = new FakeProcess();
  const running = await serveWallet(folder, configuration, port);
  const deposit = async (id: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: '{"amount": 1}' };
    return (await fetch(`${running.url}/wallets/${id}/deposit`, request)).status;
  };
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${running.url}${path}`);
    const body: unknown = await answer.json();
    return { status: answer.status, body, retryAfter: answer.headers.get('retry-after') };
  };
  const { sharding } = parseConfig(configuration, { file: 'fw.yaml', env: {} });
  const databases = openDatabases(sharding);
  const doctor = async (): Promise<readonly string[]> =>
    (await checkProcesses(sharding, databases)).map(
      ({ level, check, found }) => `${level} ${check} ${found}`,
    );
  onTestFinished(async () => {
    await databases.close(0);
    await running.close();
  });
  const ids: string[] = [];
  for (const each of early) ids.push(await insertWallet(each));
  for (const id of ids) expect(await deposit(id)).toBe(200);

  const unknown = storedWallet({ shard: late.shard }).id.toString();
  expect(await deposit(unknown)).toBe(503);
  for (const path of [`/wallets/${unknown}`, `/wallets/${unknown}/events`])
    expect(await get(path)).toMatchObject({ status: 503, body: { code: 'FW_SHARD_UNAVAILABLE' } });
  const isDown = { shard: '(1, 2)', name: late.database, status: 'down', code: 'FW_SHARD_UNAVAILABLE' };
  await expect
    .poll(() => get('/health/ready'), PATIENCE)
    .toMatchObject({
      status: 200,
      body: { status: 'degraded', shards: [{ status: 'up' }, {}, {}, {}, isDown] },
    });
  expect(JSON.stringify(await get('/health/ready'))).not.toMatch(/connect|localhost|127\.0\.0\.1/);
  expect(port.err).toMatch(
    /"message":"shard is down".*"reason":"[^"]*cannot connect|"reason":"[^"]*cannot connect.*"message":"shard is down"/,
  );
  expect(port.err).toContain(`"message":"shard ${late.database} (1, 2) is out of service: `);
  await expect
    .poll(doctor, PATIENCE)
    .toContainEqual(expect.stringMatching(/^fault in service serves without shard \(1, 2\): .*connect/));

  await server.start();
  await expect.poll(() => get(`/wallets/${unknown}`), PATIENCE).toMatchObject({ status: 404 });
  const id = await insertWallet(late);
  expect(await deposit(id)).toBe(200);
  expect(await get(`/wallets/${id}/events`)).toMatchObject({ status: 200, body: { items: [{}] } });
  expect(port.err).toContain(`shard ${late.database} (1, 2) is up to date`);
  await expect.poll(() => get('/health/ready'), PATIENCE).toMatchObject({ body: { status: 'ready' } });
  const consumers = 'select count(*)::int4 from eventlog.consumers where holder is not null';
  await expect
    .poll(async () => (await sql(server, consumers, late.database))[0]?.[0], PATIENCE)
    .toBeGreaterThan(0);
  await expect.poll(doctor, PATIENCE).toEqual([expect.stringContaining('ok topology')]);

  await server.stop();
  for (const path of [`/wallets/${id}`, `/wallets/${id}/events`])
    expect(await get(path)).toMatchObject({
      ...{
        status: 503,
        body: { code: 'FW_SHARD_UNAVAILABLE' },
        retryAfter: expect.stringMatching(/^[1-9]/),
      },
    });
  expect(await deposit(ids[0] ?? '')).toBe(200);
}, 240_000);
