import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from 'fw-actions/config';
import { fixedPrincipal } from 'fw-actions/http';
import { migrate, openDatabases } from 'fw-actions/operate';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveApplication } from '../../runtime/http/process/serve-application.js';
import { FakeProcess } from '../../runtime/http/test-support/fake-process.js';
import { APPLICATION_RIGHTS } from '../../runtime/migration/application-rights.js';
import { documentedGrants } from '../../test/databases/roles.js';
import { testServer } from '../../test/databases/vitest.js';
import { application } from './generated/application.js';

const GRANTS = documentedGrants();
const PATIENCE = { timeout: 90_000 };
const ROLE = 'wallet_app';
const names = ['global', 'mexico'].map((name) => `fw_test_role_${name}_${randomBytes(4).toString('hex')}`);

let folder: string;

async function asOwner(text: string, database = testServer().database): Promise<unknown[][]> {
  const { host, port, user, password } = testServer();
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  try {
    const result = await client.query<unknown[]>({ text, rowMode: 'array' });
    return Array.isArray(result) ? [] : result.rows;
  } finally {
    await client.end();
  }
}

function configuration(username: string, password: string): string {
  const { host, port } = testServer();
  const groups = names.map((name, group) => ({
    group,
    name,
    members: [
      {
        member: 0,
        name,
        configs: {
          'primary-config': { 'jdbc-url': `jdbc:postgresql://${host}:${port}/${name}`, username, password },
        },
      },
    ],
  }));
  const sharding = { 'default-shard': { group: 0, member: 0 }, groups };
  const execution = { 'timeout-ms': 30_000 };
  return JSON.stringify({ fw: { namespace: 'test', 'migrate-at-start': false, sharding, execution } });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fw-roles-'));
  for (const name of names) await asOwner(`create database ${name}`);
  await asOwner(`create role ${ROLE} login password '${ROLE}'`);
}, 180_000);

afterAll(async () => {
  for (const name of names) await asOwner(`drop database if exists ${name} with (force)`);
  await asOwner(`drop role if exists ${ROLE}`);
  rmSync(folder, { recursive: true, force: true });
}, 180_000);

function start(port: FakeProcess): ReturnType<typeof serveApplication> {
  const argv = ['--config', join(folder, 'fw.config.yaml'), '--port', '0'];
  const options = {
    authenticator: fixedPrincipal('tester', { role: 'operator' }),
    collaborators: {},
    env: {},
    argv,
  };
  return serveApplication(application, options, port);
}

test('the wallet serves as the role of docs/events.md, which may not change the schema', async () => {
  writeFileSync(join(folder, 'fw.config.yaml'), configuration(ROLE, ROLE));
  const early = new FakeProcess();
  await expect(start(early)).rejects.toThrow('exit 1');
  expect(early.err).toMatch(/Shard \(0, 0\) lacks the migrations .* run `fw-gen migrate up`/);

  const { user, password } = testServer();
  const { sharding } = parseConfig(configuration(user, password), { file: 'fw.yaml', env: {} });
  const owner = openDatabases(sharding);
  await migrate(owner, { migrations: application.migrations }).finally(() => owner.close());
  const ungranted = new FakeProcess();
  await expect(start(ungranted)).rejects.toThrow('exit 1');
  expect(ungranted.err).toMatch(/permission denied for schema eventlog|lacks the rights/);

  for (const name of names) await asOwner(GRANTS, name);
  await asOwner(`revoke update on eventlog.consumers from ${ROLE}`, names[1]);
  const partly = new FakeProcess();
  const port = new FakeProcess();
  const first = await start(partly);
  await first.close();
  expect(partly.err).toContain('the user lacks the rights update on eventlog.consumers. Grant them');
  await asOwner(`grant update on eventlog.consumers to ${ROLE}`, names[1]);

  const server = await start(port);
  const call = async (
    path: string,
    body?: object,
    headers: object = {},
  ): Promise<Record<string, unknown>> => {
    const json = { 'content-type': 'application/json', ...headers };
    const request = body === undefined ? {} : { method: 'POST', headers: json, body: JSON.stringify(body) };
    const answer = await fetch(`${server.url}${path}`, request);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const open = async (country: string): Promise<string> => {
    const ownerId = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
    return String((await call('/wallets', { country, ownerId, currency: 'EUR' }))['id']);
  };
  try {
    const [source, destination] = [await open('DE'), await open('MX')];
    const key = { 'idempotency-key': 'deposit-1' };
    for (let repeat = 0; repeat < 2; repeat += 1)
      await call(`/wallets/${source}/deposit`, { amount: 50 }, key);
    await call('/transfers', { sourceId: source, destinationId: destination, amount: 20 });
    // Handlers, schedules and sagas on both shards.
    await expect
      .poll(async () => (await call(`/wallets/${destination}`))['balance'], PATIENCE)
      .toMatch(/^20(\.0+)?$/);
    expect((await call(`/wallets/${source}/events`))['items']).not.toEqual([]);
    const processes = 'select count(*)::int4 from eventlog.processes';
    await expect.poll(() => asOwner(processes, names[0]), PATIENCE).toEqual([[1]]);
    expect(port.err).not.toContain('permission denied');
  } finally {
    await server.close();
  }
}, 240_000);

test('the page grants exactly the rights that a start requires', async () => {
  const granted = new Map<string, string>();
  for (const [, privileges, tables] of GRANTS.matchAll(/grant ([\w, ]+) on (eventlog\.[\w., \n]+) to/g))
    for (const table of (tables ?? '').split(/,\s*/))
      if (table.startsWith('eventlog.')) granted.set(table.trim(), (privileges ?? '').toUpperCase());
  const wanted = APPLICATION_RIGHTS.flatMap(({ tables, privileges }) =>
    tables.map((table) => [`eventlog.${table}`, privileges.join(', ')] as const),
  );
  expect([...granted].sort()).toEqual([...wanted].sort());
});
