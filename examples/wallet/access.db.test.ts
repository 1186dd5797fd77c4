import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ShardedId } from 'fw-actions';
import { loadConfig } from 'fw-actions/config';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeApi } from '../../generator/openapi.js';
import { Wallet } from './models/wallet.js';
import { MEXICO_SHARD } from './shards.js';
import { ATTEMPTS, EMPTY_LISTS } from './test-support/attempts.js';
import { ANAS, type Answer, SecuredWallet } from './test-support/secured-wallet.js';

const PAGE = fileURLToPath(new URL('../../docs/access.md', import.meta.url));
const TABLE = /(?<=<!-- attempts: begin -->\n\n).*?(?=\n<!-- attempts: end -->)/s;

describe('the secured wallet', () => {
  let wallet: SecuredWallet;

  beforeAll(async () => {
    wallet = await SecuredWallet.start();
  });

  afterAll(() => wallet?.close());

  const balance = async (): Promise<unknown> => (await wallet.get(await wallet.ana())).body['balance'];

  /** The attempts by what they were answered. */
  const answered = new Map<string, string[]>();

  test.each(ATTEMPTS)('refuses $name', async ({ name, detail, make }) => {
    const { status, body, headers } = await make(wallet);
    const isList = EMPTY_LISTS.has(name);
    if (isList) expect([status, body]).toEqual([200, { items: [], next: null }]);
    else {
      expect(status).toBeGreaterThanOrEqual(400);
      if (detail !== undefined) expect(body['detail']).toMatch(detail);
      expect(headers['etag']).toBeUndefined();
    }
    if (status === 401) expect(headers['www-authenticate'] ?? 'Bearer').toMatch(/^Bearer/);
    // An answer to HEAD has no body.
    const answer = isList
      ? '200, an empty list'
      : [status, body['code']].filter((part) => part !== undefined).join(' ');
    answered.set(answer, [...(answered.get(answer) ?? []), name]);
  });

  /** `UPDATE_GOLDEN=1` writes the table. */
  test('answers each attempt as docs/access.md shows', async () => {
    const rows = [...answered].map(([answer, names]) => `| ${answer} | ${names.join('; ')} |\n`);
    const table = ['| answer | attempts |\n|---|---|\n', ...rows].join('');
    const page = readFileSync(PAGE, 'utf8');
    expect(page).toMatch(TABLE);
    const updated = page.replace(TABLE, () => table);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, updated);
    expect(readFileSync(PAGE, 'utf8')).toBe(updated);
  });

  test('has written nothing in any attempt', async () => {
    // Ana's own withdrawals: a transfer, and one request under each of two keys.
    expect(await balance()).toBe('97');
  });

  test('the API document names the ways to authenticate and the refusals, as fw-gen prints it', async () => {
    const { body } = await wallet.call('GET', '/openapi.json');
    expect(body['security']).toEqual([{ apiKey: [] }, { token: [] }]);
    const { paths } = body as { paths: Record<string, { get: { responses: Record<string, object> } }> };
    const statuses = Object.keys(paths['/wallets/{walletId}']?.get.responses ?? {});
    expect(statuses.join(' ')).toBe('200 304 400 401 403 404 421 429 503 default');
    const { access } = loadConfig(wallet.config);
    const here = fileURLToPath(new URL('.', import.meta.url));
    const described = await describeApi({
      ...{ projectDirectory: here, sourceDirectory: here, access, title: 'Wallet' },
      ...{ outputDirectory: join(here, 'generated'), migrationsDirectory: join(here, 'migrations') },
    });
    const printed = 'text' in described ? JSON.parse(described.text) : described.diagnostics;
    expect({ ...body, info: undefined }).toEqual({ ...printed, info: undefined });
  });

  test('shows a wallet and a transfer to their owner, and a wallet to operators', async () => {
    const token = await wallet.ana();
    expect((await wallet.get(token)).body).toMatchObject({ id: wallet.anasWallet });
    const transfer = await wallet.call('GET', `/transfers/${wallet.anasTransfer}`, { token });
    expect(transfer.body).toMatchObject({ id: wallet.anasTransfer });
    expect((await wallet.get(await wallet.token('olivia', { role: 'operator' }))).status).toBe(200);
    expect((await wallet.get(await wallet.ana(), { host: 'localhost:1' })).status).toBe(200);
  });

  test("gives one answer for another owner's wallet and for one that does not exist", async () => {
    const token = await wallet.bob();
    const refused = await wallet.get(token);
    const none = ShardedId.generate(Wallet, MEXICO_SHARD).getValue();
    const missing = await wallet.call('GET', `/wallets/${none}`, { token });
    const unnamed = ({ status, headers, body }: Answer): object => ({
      ...{ status, headers: Object.keys(headers), body: { ...body, instance: '', requestId: '' } },
    });
    expect(unnamed(missing)).toEqual(unnamed(refused));
  });

  test('shows the life of a wallet to operators alone, as JSON and as a page', async () => {
    const olivia = await wallet.token('olivia', { role: 'operator' });
    const path = `/operate/history/${wallet.bobsWallet}`;
    const read = (query = '', token: string | undefined = olivia, accept = '*/*'): Promise<Answer> =>
      wallet.call('GET', path + query, { token, headers: { accept } });
    const { status, headers, body } = await read();
    expect({ status, cached: headers['cache-control'] }).toEqual({ status: 200, cached: 'no-store' });
    expect(body['events']).toMatchObject([
      { modelVersion: 1, eventType: 'WalletCreatedEvent', actionName: 'WalletCreateAction' },
    ]);
    for (const at of ['2020-01-01T00:00:00Z', '2020-01-01'])
      expect((await read(`?at=${at}`)).body).toEqual({ events: [] });
    const refused = await Promise.all([
      read('', await wallet.bob()),
      wallet.call('GET', path),
      read('?at=soon'),
      // Its meaning would depend on the time zone of the process.
      read('?at=2020-01-01T00:00:00'),
      wallet.call('GET', '/operate/history/x', { token: olivia }),
      wallet.call('GET', '/operate/history/0190f5c2-7f3a-7b1c-bfff-3f0c5ad1b2e4', { token: olivia }),
    ]);
    expect(refused.map((answer) => [answer.status, answer.body['code']])).toEqual([
      [403, 'FW_FORBIDDEN'],
      [401, 'FW_UNAUTHENTICATED'],
      [400, 'FW_VALIDATION'],
      [400, 'FW_VALIDATION'],
      [400, 'FW_VALIDATION'],
      [404, 'FW_UNKNOWN_SHARD'],
    ]);
    const { databases } = wallet.server.application;
    databases.withhold(MEXICO_SHARD, 'it is repaired');
    expect(await read()).toMatchObject({ status: 503, body: { code: 'FW_SHARD_UNAVAILABLE' } });
    databases.admit(MEXICO_SHARD);
    const page = await fetch(wallet.server.url + path, {
      headers: { authorization: `Bearer ${olivia}`, accept: 'text/html,*/*;q=0.8' },
    });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    const text = await page.text();
    expect(text).toContain(`<h1>Wallet ${wallet.bobsWallet}</h1>`);
    expect(text).toContain('<th scope="row">1</th>');
  });

  test('shows all shards to operators alone, and goes on without one that does not answer', async () => {
    const olivia = await wallet.token('olivia', { role: 'operator' });
    const read = (token?: string): Promise<Answer> =>
      wallet.call('GET', '/operate', token === undefined ? {} : { token });
    const shards = async (): Promise<readonly { shard: string; state?: object; error?: object }[]> =>
      (await read(olivia)).body['shards'] as { shard: string }[];
    const { databases } = wallet.server.application;
    const all = databases.shards().map(String);
    const known = await shards();
    expect(known.map(({ shard }) => shard)).toEqual(all);
    for (const { state } of known)
      expect(state).toMatchObject({ journal: { open: 0, flagged: 0 }, deadLetters: [], dueActions: 0 });
    const refused = await Promise.all([read(await wallet.bob()), read()]);
    expect(refused.map(({ status }) => status)).toEqual([403, 401]);
    databases.withhold(MEXICO_SHARD, 'it is repaired');
    const partial = await shards();
    databases.admit(MEXICO_SHARD);
    for (const { shard, state, error } of partial)
      if (shard === MEXICO_SHARD.toString())
        expect({ state, error }).toMatchObject({
          state: undefined,
          error: { code: 'FW_SHARD_UNAVAILABLE', message: 'it is repaired' },
        });
      else expect(state).toBeDefined();
    const page = await fetch(`${wallet.server.url}/operate`, {
      headers: { authorization: `Bearer ${olivia}`, accept: 'text/html' },
    });
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(await page.text()).toContain(`<th scope="row">${MEXICO_SHARD}</th>`);
  });

  test("shows another tenant's models in no list, stream or replay", async () => {
    const abroad = await wallet.ana({ claims: { region: 'global' } });
    const both = await wallet.ana({ claims: { region: ['global', 'mexico'] } });
    const mexican = await wallet.ana();
    const make = { country: 'DE', ownerId: ANAS, currency: 'EUR', initialBalance: '5' };
    const german = await wallet.call('POST', '/wallets', { token: abroad, body: make });
    expect(german.status).toBe(201);
    const germanId = String(german.body['id']);
    const page = (token: string, query = ''): Promise<Answer> =>
      wallet.call('GET', `/wallets?ownerId=${ANAS}&limit=2${query}`, { token });
    const idsOf = async (token: string, query?: string): Promise<readonly string[]> =>
      ((await page(token, query)).body['items'] as { id: string }[]).map(({ id }) => id);
    expect(await idsOf(mexican)).toContain(wallet.anasWallet);
    expect(await idsOf(mexican)).not.toContain(germanId);
    expect(await idsOf(abroad)).toEqual([germanId]);
    // A cursor is a position in a list, and grants no access.
    const { next } = (await page(both)).body;
    expect(typeof next).toBe('string');
    expect(await idsOf(mexican, `&cursor=${String(next)}`)).not.toContain(germanId);
    const stream = { token: mexican, headers: { accept: 'text/event-stream' } };
    expect((await wallet.call('GET', `/wallets/${germanId}/events`, stream)).status).toBe(403);
    // The first answer is stored under a key of the same principal, who has lost the region since.
    const key = { 'idempotency-key': 'moved' };
    const deposit = (token: string): Promise<Answer> =>
      wallet.call('POST', `/wallets/${germanId}/deposit`, { token, body: { amount: '1' }, headers: key });
    expect((await deposit(abroad)).status).toBe(200);
    expect((await deposit(mexican)).status).toBe(403);
    const olivia = await wallet.token('olivia', { role: 'operator' });
    expect((await wallet.call('GET', `/wallets/${germanId}`, { token: olivia })).status).toBe(200);
  });

  test('takes an API key until it is revoked, which is seen within five seconds', async () => {
    const key = await wallet.anasKey();
    expect((await wallet.get(key)).status).toBe(200);
    expect((await wallet.get(undefined, { 'x-api-key': key })).status).toBe(200);
    expect(await wallet.keys.revoke(key.slice(4, 20))).toBe(true);
    await expect
      .poll(async () => (await wallet.get(key)).body['detail'], { timeout: 30_000, interval: 200 })
      .toBe('The API key was revoked');
    expect(JSON.stringify(await wallet.keys.list())).not.toContain(key.slice(21));
  });

  test('answers 429 with Retry-After to a caller above its limit, also for invalid requests, and serves others', async () => {
    // A slow machine needs several rounds to exceed a caller's limit.
    const untilRefused = async (call: () => Promise<Answer>): Promise<readonly Answer[]> => {
      const answers: Answer[] = [];
      for (let round = 0; round < 40 && !answers.some(({ status }) => status === 429); round += 1)
        answers.push(...(await Promise.all(Array.from({ length: 200 }, call))));
      return answers;
    };
    const [eager, sloppy] = [
      await wallet.token('eager', { owner: ANAS }),
      await wallet.token('sloppy', { owner: ANAS }),
    ];
    const answers = await untilRefused(() => wallet.get(eager));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ code: 'FW_TOO_MANY_REQUESTS' });
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await wallet.get(await wallet.ana())).status).toBe(200);
    const invalid = await untilRefused(() => wallet.call('GET', '/wallets?ownerId=x', { token: sloppy }));
    expect(new Set(invalid.map(({ status }) => status))).toEqual(new Set([400, 429]));
  });
});
