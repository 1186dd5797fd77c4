import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiKeyStore, fixedPrincipal, type RunningServer, ShardedId } from 'fw-actions';
import { loadConfig } from 'fw-actions/config';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeApi } from '../../generator/openapi.js';
import { startServer } from './generated/server.js';
import { Wallet } from './models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from './shards.js';

const ANAS = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const BOBS = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a11';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Signing {
  readonly key?: CryptoKey | Uint8Array;
  readonly alg?: string;
  readonly kid?: string;
  readonly audience?: string;
  readonly issuer?: string;
  /** Seconds from now. */
  readonly expires?: number;
}

/** The issuer, its keys, and the wallet as `fw.config.secure.yaml` has it, on databases in memory. */
describe('attempts on the secured wallet', () => {
  const directory = mkdtempSync(join(tmpdir(), 'fw-access-'));
  let issuer: Server;
  let published: readonly JWK[] = [];
  let isIssuerAway = false;
  let privateKey: CryptoKey;
  let publicKey: CryptoKey;
  let server: RunningServer;
  let keys: ApiKeyStore;
  let walletId = '';
  let config = '';

  beforeAll(async () => {
    ({ privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true }));
    published = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }];
    issuer = createServer((_, response) => {
      response.statusCode = isIssuerAway ? 503 : 200;
      response.end(JSON.stringify({ keys: published }));
    });
    await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
    const { port } = issuer.address() as AddressInfo;
    const yaml = readFileSync(fileURLToPath(new URL('fw.config.secure.yaml', import.meta.url)), 'utf8');
    config = join(directory, 'fw.config.yaml');
    // So few per second that a slow machine goes beyond them as well.
    const slow = yaml.replace('requests-per-second: 50', 'requests-per-second: 5');
    writeFileSync(config, slow.replaceAll(/jdbc:pglite:file:.*\/secure-(\w+)/g, 'jdbc:pglite:mem:secure-$1'));
    server = await startServer({
      // The configuration wins.
      authenticator: fixedPrincipal('nobody', { role: 'operator' }),
      argv: ['--config', config, '--port', '0'],
      env: { ISSUER: 'https://issuer.test/', JWKS_URL: `http://127.0.0.1:${port}/keys` },
      log: { info: () => {}, warn: () => {}, error: () => {} },
      deliver: false,
      feeds: { '/wallets/{walletId}/events': 'walletId' },
    });
    const { databases } = server.application;
    keys = new ApiKeyStore(databases.database(databases.defaultShard));
    const opened = await call('POST', '/wallets', {
      token: await token('ana', { owner: ANAS }),
      body: { country: 'MX', ownerId: ANAS, currency: 'MXN', initialBalance: '100' },
    });
    expect(opened.status).toBe(201);
    walletId = String(opened.body['id']);
  });

  afterAll(async () => {
    await server?.close();
    issuer?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const token = (subject: string, claims: object = {}, signing: Signing = {}): Promise<string> => {
    const { key = privateKey, alg = 'RS256', kid = 'one', expires = 60 } = signing;
    return new SignJWT({ region: 'mexico', ...claims })
      .setProtectedHeader({ alg, kid })
      .setSubject(subject)
      .setIssuer(signing.issuer ?? 'https://issuer.test/')
      .setAudience(signing.audience ?? 'wallet')
      .setExpirationTime(new Date(Date.now() + expires * 1_000))
      .sign(key);
  };

  const call = (
    method: string,
    path: string,
    {
      token: bearer,
      body,
      headers = {},
    }: { token?: string; body?: object; headers?: Record<string, string | string[]> } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const all = {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      };
      const sent = request(server.url + path, { method, headers: all, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { statusCode: status = 0, headers: answered } = response;
          resolve({ status, headers: answered, body: text === '' ? {} : JSON.parse(text) });
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });

  const get = (
    bearer: string | undefined,
    headers: Record<string, string | string[]> = {},
  ): Promise<Answer> =>
    call('GET', `/wallets/${walletId}`, { ...(bearer === undefined ? {} : { token: bearer }), headers });
  const withdraw = (bearer: string, key: string): Promise<Answer> =>
    call('POST', `/wallets/${walletId}/withdraw`, {
      token: bearer,
      body: { amount: '1' },
      headers: { 'idempotency-key': key },
    });
  const ana = (): Promise<string> => token('ana', { owner: ANAS });
  const balance = async (): Promise<unknown> => (await get(await ana())).body['balance'];

  const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

  /** Tokens and what each is refused for. */
  const forged: readonly (readonly [string, () => Promise<string | undefined>, RegExp])[] = [
    ['no token', async () => undefined, /API key is needed|token is needed/],
    ['an expired token', () => token('ana', { owner: ANAS }, { expires: -60 }), /"exp"/],
    ['a token for another audience', () => token('ana', { owner: ANAS }, { audience: 'bank' }), /"aud"/],
    [
      'a token of another issuer',
      () => token('ana', { owner: ANAS }, { issuer: 'https://evil.test/' }),
      /"iss"/,
    ],
    [
      'alg: none',
      async () => {
        const { exp, ...rest } = {
          exp: 4_000_000_000,
          iss: 'https://issuer.test/',
          aud: 'wallet',
          sub: 'ana',
          owner: ANAS,
        };
        return `${base64({ alg: 'none', kid: 'one' })}.${base64({ ...rest, exp })}.`;
      },
      /"alg"/,
    ],
    [
      // The public key of RS256 as the secret of HS256.
      'key confusion',
      async () => {
        const secret = new TextEncoder().encode(await exportSPKI(publicKey));
        return token('ana', { owner: ANAS }, { key: secret, alg: 'HS256' });
      },
      /"alg"/,
    ],
    [
      'a key of its own under a known name',
      async () => token('ana', { owner: ANAS }, { key: (await generateKeyPair('RS256')).privateKey }),
      /signature/,
    ],
    [
      'claims that were changed after the signature',
      async () => {
        const [head, , signature] = (await token('bob', { owner: BOBS })).split('.');
        return `${head}.${base64({ sub: 'bob', role: 'operator', iss: 'https://issuer.test/', aud: 'wallet', exp: 4_000_000_000 })}.${signature}`;
      },
      /signature/,
    ],
    ['an API key that was never created', async () => `fwk_0123456789abcdef_${'A'.repeat(43)}`, /not known/],
    ['half of an API key', async () => 'fwk_0123456789abcdef', /form/],
  ];

  test.each(forged)('401 for %s', async (_, make, detail) => {
    const { status, headers, body } = await get(await make());
    expect([status, body['code']]).toEqual([401, 'FW_UNAUTHENTICATED']);
    expect(headers['www-authenticate']).toMatch(/^Bearer/);
    expect(body['detail']).toMatch(detail);
  });

  test('the API document names the ways to authenticate and the refusals, as fw-gen prints it', async () => {
    const { body } = await call('GET', '/openapi.json');
    expect(body['security']).toEqual([{ apiKey: [] }, { token: [] }]);
    const { paths } = body as { paths: Record<string, { get: { responses: Record<string, object> } }> };
    expect(Object.keys(paths['/wallets/{walletId}']?.get.responses ?? {})).toEqual([
      '200',
      '304',
      '400',
      '401',
      '403',
      '404',
      '421',
      '429',
      '503',
      'default',
    ]);
    const { access } = loadConfig(config);
    const here = fileURLToPath(new URL('.', import.meta.url));
    const described = await describeApi({
      ...{ projectDirectory: here, sourceDirectory: here, access, title: 'Wallet' },
      ...{ outputDirectory: join(here, 'generated'), migrationsDirectory: join(here, 'migrations') },
    });
    const printed = 'text' in described ? JSON.parse(described.text) : described.diagnostics;
    expect({ ...body, info: undefined }).toEqual({ ...printed, info: undefined });
  });

  test('200 for the owner and for an operator', async () => {
    expect((await get(await ana())).body).toMatchObject({ id: walletId, balance: '100' });
    expect((await get(await token('olivia', { role: 'operator' }))).status).toBe(200);
  });

  test('403 for another owner, who learns nothing, and nothing is written', async () => {
    const bob = await token('bob', { owner: BOBS });
    const refused = await get(bob);
    expect([refused.status, refused.body['code']]).toEqual([403, 'FW_FORBIDDEN']);
    const missing = await call('GET', `/wallets/${ShardedId.generate(Wallet, MEXICO_SHARD).getValue()}`, {
      token: bob,
    });
    expect({ ...missing.body, instance: '' }).toEqual({ ...refused.body, instance: '' });
    expect((await withdraw(bob, 'steal')).status).toBe(403);
    const listed = await call('GET', `/wallets?ownerId=${ANAS}`, { token: bob });
    expect([listed.status, listed.body]).toEqual([200, { items: [], next: null }]);
    expect(await balance()).toBe('100');
  });

  test('403 for a replay by another principal, and for one whose claims were taken away', async () => {
    const before = await withdraw(await ana(), 'rent');
    expect(before.status).toBe(200);
    const replayed = await withdraw(await ana(), 'rent');
    expect(replayed.headers['idempotency-replayed']).toBe('true');
    expect(replayed.body).toEqual(before.body);
    expect((await withdraw(await token('bob', { owner: BOBS }), 'rent')).status).toBe(403);
    expect((await withdraw(await token('ana', { owner: BOBS }), 'rent')).status).toBe(403);
    expect(await balance()).toBe('99');
  });

  test("403 for another tenant's ids, wherever they stand, and its models show in no list", async () => {
    const abroad = await token('ana', { owner: ANAS, region: 'global' });
    const both = await token('ana', { owner: ANAS, region: ['global', 'mexico'] });
    const make = { country: 'DE', ownerId: ANAS, currency: 'EUR', initialBalance: '5' };
    const german = await call('POST', '/wallets', { token: abroad, body: make });
    expect(german.status).toBe(201);
    const germanId = String(german.body['id']);
    const page = (bearer: string, query = ''): Promise<Answer> =>
      call('GET', `/wallets?ownerId=${ANAS}&limit=1${query}`, { token: bearer });
    const { next } = (await page(both)).body;
    expect(typeof next).toBe('string');
    const mexican = await ana();
    const transfer = { sourceId: walletId, destinationId: germanId, amount: '1' };
    const made = ShardedId.generate(Wallet, GLOBAL_SHARD).getValue();
    const attempts = [
      await call('GET', `/wallets/${germanId}`, { token: mexican }),
      await call('GET', `/wallets/${made}`, { token: mexican }),
      await call('GET', `/wallets/${germanId}/events`, { token: mexican }),
      await call('GET', `/wallets/${germanId}/events`, {
        token: mexican,
        headers: { accept: 'text/event-stream' },
      }),
      await call('POST', `/wallets/${germanId}/deposit`, { token: mexican, body: { amount: '1' } }),
      await call('POST', '/transfers', { token: mexican, body: transfer }),
      await call('POST', '/wallets', { token: mexican, body: make }),
      await call('GET', `/wallets/${germanId}`, { token: await token('ana', { owner: ANAS, region: [] }) }),
      await call('GET', `/wallets/${germanId}`, {
        token: await token('ana', { owner: ANAS, region: 'GLOBAL' }),
      }),
    ];
    expect(attempts.map(({ status, body }) => [status, body['code']])).toEqual(
      attempts.map(() => [403, 'FW_FORBIDDEN']),
    );
    const idsOf = async (bearer: string, query?: string): Promise<unknown> =>
      ((await page(bearer, query)).body['items'] as { id: string }[]).map(({ id }) => id);
    expect(await idsOf(mexican)).toEqual([walletId]);
    expect(await idsOf(abroad)).toEqual([germanId]);
    // A cursor is a place in a list, and opens nothing.
    expect(await idsOf(mexican, `&cursor=${String(next)}`)).not.toContain(germanId);
    // The first answer is kept under a key of the same principal, who has lost the region since.
    const key = { 'idempotency-key': 'moved' };
    const deposit = (bearer: string): Promise<Answer> =>
      call('POST', `/wallets/${germanId}/deposit`, { token: bearer, body: { amount: '1' }, headers: key });
    expect((await deposit(abroad)).status).toBe(200);
    expect((await deposit(mexican)).status).toBe(403);
    expect(
      (await call('GET', `/wallets/${germanId}`, { token: await token('olivia', { role: 'operator' }) }))
        .status,
    ).toBe(200);
  });

  test('headers that claim an identity count for nothing', async () => {
    const smuggled = { 'x-forwarded-user': 'olivia', 'x-role': 'operator', 'x-original-url': '/health/live' };
    expect((await get(undefined, smuggled)).status).toBe(401);
    expect((await get(await token('bob', { owner: BOBS }), smuggled)).status).toBe(403);
  });

  test('401 for two Authorization headers, of which a proxy may have checked the other one', async () => {
    const answers = await Promise.all(
      [
        [await ana(), 'x'],
        ['x', await ana()],
      ].map((tokens) => get(undefined, { authorization: tokens.map((each) => `Bearer ${each}`) })),
    );
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  });

  test('421 for a name that the server does not stand for', async () => {
    expect((await get(await ana(), { host: 'evil.test' })).status).toBe(421);
    expect((await get(await ana(), { host: 'localhost:1' })).status).toBe(200);
  });

  test('an API key is taken until it expires or is revoked, which is seen within five seconds', async () => {
    const key = await keys.create({ principal: 'job', claims: { owner: ANAS, region: 'mexico' } });
    expect((await get(key)).status).toBe(200);
    expect((await get(undefined, { 'x-api-key': key })).status).toBe(200);
    expect((await get(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)).status).toBe(401);
    const late = await keys.create({
      principal: 'job',
      claims: { owner: ANAS, region: 'mexico' },
      expiresDate: new Date(Date.now() - 1),
    });
    expect((await get(late)).body['detail']).toMatch(/expired/);
    expect(await keys.revoke(key.slice(4, 20))).toBe(true);
    const revokedMs = Date.now();
    let answer = await get(key);
    // Slow enough for the limit of requests.
    while (answer.status === 200 && Date.now() - revokedMs < 30_000) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      answer = await get(key);
    }
    expect([answer.status, answer.body['detail']]).toEqual([401, 'The API key was revoked']);
    const [stored] = await keys.list();
    expect(JSON.stringify(stored)).not.toContain(key.slice(21));
  });

  test('new keys of the issuer are found without a restart, and the last ones last while it is away', async () => {
    const next = await generateKeyPair('ES256', { extractable: true });
    published = [...published, { ...(await exportJWK(next.publicKey)), kid: 'two', alg: 'ES256' }];
    const signed = await token('ana', { owner: ANAS }, { key: next.privateKey, alg: 'ES256', kid: 'two' });
    const startedMs = Date.now();
    let answer = await get(signed);
    // Made-up key names must not have the server ask the issuer all the time: it pauses for ten seconds.
    while (answer.status === 401 && Date.now() - startedMs < 60_000) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      answer = await get(signed);
    }
    expect(answer.status).toBe(200);
    isIssuerAway = true;
    expect((await get(await ana())).status).toBe(200);
    isIssuerAway = false;
  });

  test('429 with Retry-After for a caller that asks too often, and others are served', async () => {
    const eager = await token('eager', { owner: ANAS });
    // A slow machine needs several rounds to use up what a caller may take.
    const answers: Answer[] = [];
    for (let round = 0; round < 40 && !answers.some(({ status }) => status === 429); round += 1)
      answers.push(...(await Promise.all(Array.from({ length: 200 }, () => get(eager)))));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.body).toMatchObject({ code: 'FW_TOO_MANY_REQUESTS' });
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
    expect((await get(await ana())).status).toBe(200);
  });
});
