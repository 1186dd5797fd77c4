import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShardIdentifier } from 'fw-actions';
import { parseConfig } from 'fw-actions/config';
import { fixedPrincipal } from 'fw-actions/http';
import { openDatabases } from 'fw-actions/operate';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkProcesses } from '../../runtime/doctor/process-check.js';
import { serveApplication } from '../../runtime/http/process/serve-application.js';
import { FakeProcess } from '../../runtime/http/test-support/fake-process.js';
import { type PostgresServer, type ServerAddress, startPostgres } from '../../test/databases/server.js';
import { testServer } from '../../test/databases/vitest.js';
import { application } from './generated/application.js';
import { storedWallet } from './test-support/wallets.js';

const SHARDS = [
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1],
  [1, 2],
] as const;
const LATE = ShardIdentifier.of(1, 2);
const PATIENCE = { timeout: 90_000 };

let late: PostgresServer;
let folder: string;
const nameOf = (group: number, member: number): string => `fw_start_${process.pid}_${group}_${member}`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fw-start-'));
  late = await startPostgres();
  await sql(late, `create database ${nameOf(1, 2)}`);
  await late.stop();
  for (const [group, member] of SHARDS.slice(0, -1))
    await sql(testServer(), `create database ${nameOf(group, member)}`);
}, 180_000);

afterAll(async () => {
  for (const [group, member] of SHARDS)
    await sql(testServer(), `drop database if exists ${nameOf(group, member)} with (force)`);
  await late?.destroy();
  rmSync(folder, { recursive: true, force: true });
}, 180_000);

async function sql(server: ServerAddress, text: string, database = server.database): Promise<unknown[][]> {
  const { host, port, user, password } = server;
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

function serverOf(shard: ShardIdentifier): ServerAddress {
  return shard === LATE ? late : testServer();
}

function configuration(): string {
  const members = SHARDS.map(([group, member]) => {
    const { host, port, user, password } = serverOf(ShardIdentifier.of(group, member));
    const source = {
      'jdbc-url': `jdbc:postgresql://${host}:${port}/${nameOf(group, member)}`,
      username: user,
      password,
      'maximum-pool-size': 3,
    };
    return { group, member, name: `m-${member}`, configs: { 'primary-config': source } };
  });
  const groups = [0, 1].map((group) => ({
    group,
    name: `group-${group}`,
    members: members.filter((each) => each.group === group).map(({ group: _, ...member }) => member),
  }));
  const sharding = { 'default-shard': { group: 0, member: 0 }, groups };
  return JSON.stringify({ fw: { namespace: 'test', sharding, execution: { 'timeout-ms': 30_000 } } });
}

async function openWallet(shard: ShardIdentifier): Promise<string> {
  const id = storedWallet({ shard }).id.toString();
  await sql(
    serverOf(shard),
    `insert into wallets (id, version, state, owner_id, currency, balance, created_date, updated_date)
     values ('${id}', 1, 'OPENED', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10', 'EUR', 0, now(), now())`,
    nameOf(shard.group, shard.member),
  );
  return id;
}

test('a process serves the shards whose servers answer at its start, and the last one once it answers', async () => {
  const config = join(folder, 'fw.config.yaml');
  writeFileSync(config, configuration());
  const port = new FakeProcess();
  const server = await serveApplication(
    application,
    {
      authenticator: fixedPrincipal('tester', { role: 'operator' }),
      collaborators: {},
      env: {},
      argv: ['--config', config, '--port', '0'],
    },
    port,
  );
  const deposit = async (id: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: '{"amount": 1}' };
    return (await fetch(`${server.url}/wallets/${id}/deposit`, request)).status;
  };
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${server.url}${path}`);
    const body: unknown = await answer.json();
    return { status: answer.status, body };
  };
  const { sharding } = parseConfig(configuration(), { file: 'fw.yaml', env: {} });
  const databases = openDatabases(sharding);
  const doctor = async (): Promise<readonly string[]> =>
    (await checkProcesses(sharding, databases)).map(
      ({ level, check, found }) => `${level} ${check} ${found}`,
    );
  try {
    const ids = new Map<ShardIdentifier, string>();
    for (const [group, member] of SHARDS.slice(0, -1)) {
      const shard = ShardIdentifier.of(group, member);
      ids.set(shard, await openWallet(shard));
    }
    for (const id of ids.values()) expect(await deposit(id)).toBe(200);

    const unknown = storedWallet({ shard: LATE }).id.toString();
    expect(await deposit(unknown)).toBe(503);
    for (const path of [`/wallets/${unknown}`, `/wallets/${unknown}/events`])
      expect(await get(path)).toMatchObject({ status: 503, body: { code: 'FW_SHARD_UNAVAILABLE' } });
    const isDown = { shard: '(1, 2)', name: 'm-2', status: 'down', code: 'FW_SHARD_UNAVAILABLE' };
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
    expect(port.err).toContain('"message":"shard m-2 (1, 2) is out of service: ');
    await expect
      .poll(doctor, PATIENCE)
      .toContainEqual(expect.stringMatching(/^fault in service serves without shard \(1, 2\): .*connect/));

    await late.start();
    await expect.poll(() => get(`/wallets/${unknown}`), PATIENCE).toMatchObject({ status: 404 });
    const id = await openWallet(LATE);
    expect(await deposit(id)).toBe(200);
    expect(await get(`/wallets/${id}/events`)).toMatchObject({ status: 200, body: { items: [{}] } });
    expect(port.err).toContain('shard m-2 (1, 2) is up to date');
    await expect.poll(() => get('/health/ready'), PATIENCE).toMatchObject({ body: { status: 'ready' } });
    const consumers = 'select count(*)::int4 from eventlog.consumers where holder is not null';
    await expect
      .poll(async () => (await sql(late, consumers, nameOf(1, 2)))[0]?.[0], PATIENCE)
      .toBeGreaterThan(0);
    await expect.poll(doctor, PATIENCE).toEqual([expect.stringContaining('ok topology')]);

    await late.stop();
    for (const path of [`/wallets/${id}`, `/wallets/${id}/events`])
      expect(await get(path)).toMatchObject({ status: 503, body: { code: 'FW_SHARD_UNAVAILABLE' } });
    expect(await deposit(ids.get(ShardIdentifier.of(0, 0)) ?? '')).toBe(200);
  } finally {
    await databases.close(0);
    await server.close();
  }
}, 240_000);
