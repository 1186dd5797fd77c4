import { randomBytes } from 'node:crypto';
import { parseConfig } from 'fw-actions/config';
import { migrate, openDatabases } from 'fw-actions/operate';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { FakeProcess } from '../../runtime/http/test-support/fake-process.js';
import { createWallet, get, post } from '../../test/customer/http-client.js';
import { documentedGrants } from '../../test/databases/roles.js';
import { testServer } from '../../test/databases/vitest.js';
import { application } from './generated/application.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from './shards.js';
import { configurationOf, serveWallet, sql } from './test-support/served-wallet.js';
import { OWNER } from './test-support/wallets.js';

const GRANTS = documentedGrants();
const PATIENCE = { timeout: 90_000 };
const ROLE = 'wallet_app';
const names = ['global', 'mexico'].map((name) => `fw_test_role_${name}_${randomBytes(4).toString('hex')}`);

const folder = temporaryFolder();

const asOwner = (text: string, database?: string) => sql(testServer(), text, database);

function configuration(login: object = {}): string {
  const members = [GLOBAL_SHARD, MEXICO_SHARD].map((shard, index) => ({
    ...{ shard, server: testServer(), database: names[index] ?? '' },
    ...login,
  }));
  return configurationOf(members, { 'migrate-at-start': false, execution: { 'timeout-ms': 30_000 } });
}

beforeAll(async () => {
  for (const name of names) await asOwner(`create database ${name}`);
  await asOwner(`create role ${ROLE} login password '${ROLE}'`);
}, 180_000);

afterAll(async () => {
  for (const name of names) await asOwner(`drop database if exists ${name} with (force)`);
  await asOwner(`drop role if exists ${ROLE}`);
}, 180_000);

function start(port: FakeProcess): ReturnType<typeof serveWallet> {
  return serveWallet(folder, configuration({ user: ROLE, password: ROLE }), port);
}

test('the wallet serves as the role of docs/events.md, which may not change the schema', async () => {
  const early = new FakeProcess();
  await expect(start(early)).rejects.toThrow('exit 1');
  expect(early.err).toMatch(/Shard \(0, 0\) lacks the migrations .* run `fw-gen migrate up`/);

  const { sharding } = parseConfig(configuration(), { file: 'fw.yaml', env: {} });
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
  const url = (path: string): string => `${server.url}${path}`;
  onTestFinished(() => server.close());
  const [source, destination] = await Promise.all(
    ['DE', 'MX'].map((country) => createWallet(server.url, country, OWNER, '0')),
  );
  const key = { 'idempotency-key': 'deposit-1' };
  for (let repeat = 0; repeat < 2; repeat += 1) {
    const answer = await post(url(`/wallets/${source?.id}/deposit`), { amount: 50 }, key);
    expect(answer).toMatchObject({ status: 200, body: { balance: '50' } });
  }
  const transfer = { sourceId: source?.id, destinationId: destination?.id, amount: 20 };
  expect((await post(url('/transfers'), transfer)).status).toBe(202);
  // Handlers, schedules and sagas on both shards.
  await expect
    .poll(async () => (await get(url(`/wallets/${destination?.id}`))).body.balance, PATIENCE)
    .toBe('20');
  const events = await get<{ readonly items: readonly object[] }>(url(`/wallets/${source?.id}/events`));
  expect(events.body.items).not.toEqual([]);
  const processes = 'select count(*)::int4 from eventlog.processes';
  await expect.poll(() => asOwner(processes, names[0]), PATIENCE).toEqual([[1]]);
  expect(port.err).not.toContain('permission denied');
}, 240_000);
