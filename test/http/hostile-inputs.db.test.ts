import { ShardedId, ShardIdentifier } from 'fw-actions';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Wallet } from '../../examples/wallet/models/wallet.js';
import { testServer } from '../databases/vitest.js';
import { type Answer, JSON_TYPE, OWNER, WalletService } from './wallet-service.js';

/** A request is refused within a hundredth of this; one that is refused too late takes seconds. */
const SOON_MS = 30_000;

const newWallet = (fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ country: 'MX', ownerId: OWNER, currency: 'MXN', ...fields });

for (const adapter of ['postgresql', 'pglite'] as const) {
  describe(`The generated wallet under hostile inputs (${adapter})`, () => {
    let service: WalletService;
    /** A wallet with a balance of 100. */
    let wallet: string;

    beforeAll(async () => {
      service = await WalletService.start(adapter, testServer());
      wallet = await service.openWallet();
    }, 120_000);
    afterAll(() => service?.close());
    afterEach(() => {
      expect(service.violations.splice(0)).toEqual([]);
      expect(service.log.filter((entry) => Reflect.get(entry, 'level') === 'error')).toEqual([]);
    });

    const deposit = (
      body: string | Uint8Array,
      headers?: Readonly<Record<string, string>>,
    ): Promise<Answer> => service.post(`/wallets/${wallet}/deposit`, body, headers);

    /** The request is refused in time, nothing is stored, and the next valid request works. */
    async function refused(request: () => Promise<Answer>, status = 400): Promise<Answer> {
      const before = await service.stateOf(wallet);
      const startMs = performance.now();
      const answer = await request();
      expect(performance.now() - startMs).toBeLessThan(SOON_MS);
      expect(answer.status, answer.text).toBe(status);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(await service.stateOf(wallet)).toEqual(before);
      return answer;
    }

    it.each([
      ['10.25', '10.25'],
      ['"10.25"', '10.25'],
      ['1e2', '100'],
      ['0.0001', '0.0001'],
    ])('stores the amount %s exactly', async (amount, added) => {
      const id = await service.openWallet('0');
      const { status, body } = await service.post(`/wallets/${id}/deposit`, `{"amount":${amount}}`);
      expect([status, body['balance'], body['version']]).toEqual([200, added, 2]);
      expect((await service.stateOf(id)).wallet['balance']).toBe(added);
    });

    it.each([
      ...['{}', 'null', '[]', '5', '', '{"amount":', '{"amount":NaN}'],
      ...['{"amount":1,"amount":2}', '{"amount":1,"amount":1}', '{"amount":1,"\\u0061mount":1}'],
      ...['{"__proto__":{"amount":5}}', '{"amount":1,"balance":1}', '{"amount":1,"version":1}'],
      `{"amount":${'['.repeat(1_000)}${']'.repeat(1_000)}}`,
      // A sum beyond the column.
      '{"amount":"999999999999999.9999"}',
      ...['a\\u0000', '\\ud800', 'x'.repeat(257)].map((text) => `{"amount":1,"recipient":"${text}"}`),
      Buffer.concat([Buffer.from('{"amount":1,"recipient":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    ])('refuses the body %s', async (body) => {
      await refused(() => deposit(body));
    });

    it.each([
      ['text/plain', { 'content-type': 'text/plain' }],
      ['UTF-16', { 'content-type': 'application/json; charset=utf-16' }],
      ['Latin-1', { 'content-type': 'application/json;charset="ISO-8859-1"' }],
      ['problem+json', { 'content-type': 'application/problem+json' }],
      ['no valid type', { 'content-type': 'json' }],
      ['no type', {}],
      ['gzip', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    ])('refuses a body of %s with 415', async (_what, headers) => {
      const { body } = await refused(() => deposit(Buffer.from('{"amount":1}'), headers), 415);
      expect(body['code']).toBe('HTTP_UNSUPPORTED_MEDIA_TYPE');
    });

    it('refuses a body of more than 64 KiB with 413', async () => {
      await refused(() => deposit(`{"amount":1${' '.repeat(65_536 - 11)}}`), 413);
    });

    it.each([
      ...['not-a-uuid', 'a%2Fb', '%00', '', 'x'.repeat(500), '%7B0190a000-0000-7000-8040-000000000001%7D'],
      // UUIDs of other forms, versions and variants.
      ...['0190a0000000700080400000000001ab', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10'],
      ...['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
      '0190a000-0000-7000-0040-000000000001',
    ])('refuses the id %s', async (id) => {
      const { body } = await refused(() => service.call('GET', `/wallets/${id}`));
      const message = 'walletId must be the id of a Wallet (a UUID of version 7)';
      expect(body['errors']).toEqual([{ in: 'path', pointer: '/walletId', message }]);
      await refused(() => service.post(`/wallets/${id}/deposit`, '{"amount":1}'));
    });

    it('refuses a cursor that it has not issued', async () => {
      await refused(() => service.call('GET', `/wallets?ownerId=${OWNER}&cursor=none`));
    });

    it('answers 404 for ids of shards that are not configured, a thousand different ones', async () => {
      const ids = Array.from({ length: 1_000 }, (_, at) =>
        ShardedId.generate(Wallet, ShardIdentifier.of(2 + (at >> 6), at & 63)).getValue(),
      );
      for (let at = 0; at < ids.length; at += 50) {
        const answers = await Promise.all(
          ids.slice(at, at + 50).map((id) => service.call('GET', `/wallets/${id}`)),
        );
        expect(answers.map(({ status, body }) => [status, body['code']])).toEqual(
          answers.map(() => [404, 'FW_UNKNOWN_SHARD']),
        );
      }
      expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    });

    it.each([
      ...[{ country: 5 }, { country: null }, { country: undefined }, { state: 'CLOSED' }],
      ...[{ currency: null }, { currency: 'usd' }, { currency: '' }, { currency: 'EURO' }],
      ...[{ initialBalance: null }, { initialBalance: -1 }, { ownerId: null }, { ownerId: 'me' }],
      ...[{ ownerId: OWNER.replaceAll('-', '') }, { ownerId: `{${OWNER}}` }],
    ])('opens no wallet from %j', async (fields) => {
      const list = `/wallets?ownerId=${OWNER}&limit=200`;
      const before = (await service.call('GET', list)).body;
      await refused(() => service.post('/wallets', newWallet(fields)));
      expect((await service.call('GET', list)).body).toEqual(before);
    });

    it('honours If-Match, and refuses an invalid tag', async () => {
      const { wallet: stored } = await service.stateOf(wallet);
      const tag = `"${String(stored['version'])}"`;
      await refused(() => deposit('{"amount":1}', { ...JSON_TYPE, 'if-match': '"9999"' }), 412);
      await refused(() => deposit('{"amount":1}', { ...JSON_TYPE, 'if-match': '1' }));
      expect((await deposit('{"amount":1}', { ...JSON_TYPE, 'if-match': tag })).status).toBe(200);
      await refused(() => deposit('{"amount":1}', { ...JSON_TYPE, 'if-match': tag }), 412);
    });

    it('applies a key once for fifty concurrent requests, and refuses it for another request', async () => {
      const headers = { ...JSON_TYPE, 'idempotency-key': 'fifty' };
      const before = await service.stateOf(wallet);
      const answers = await Promise.all(Array.from({ length: 50 }, () => deposit('{"amount":2}', headers)));
      const applied = answers.filter(({ status }) => status === 200);
      expect(applied.filter(({ headers: of }) => of.get('idempotency-replayed') === null)).toHaveLength(1);
      expect(new Set(applied.map(({ text }) => text)).size).toBe(1);
      expect((await service.stateOf(wallet)).events).toBe(before.events + 1);
      await refused(() => deposit('{"amount":3}', headers), 422);
      const again = await deposit('{"amount":2}', headers);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    });

    it('refuses what the state of a wallet forbids with 409', async () => {
      const id = await service.openWallet('5');
      const call = (what: string, body: string): Promise<Answer> =>
        service.post(`/wallets/${id}/${what}`, body);
      const short = await call('withdraw', '{"amount":6}');
      expect([short.status, short.body['detail']]).toEqual([409, 'Insufficient balance']);
      expect((await call('close', '{}')).status).toBe(409);
      expect((await call('withdraw', '{"amount":5}')).status).toBe(200);
      expect((await call('close', '{}')).status).toBe(200);
      expect((await call('deposit', '{"amount":1}')).status).toBe(409);
      expect((await service.stateOf(id)).wallet).toMatchObject({ balance: '0', state: 'CLOSED', version: 3 });
    });

    it('applies a hundred concurrent deposits on one wallet, whose sum is exact', async () => {
      const id = await service.openWallet('0');
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => service.post(`/wallets/${id}/deposit`, '{"amount":0.1}')),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      const { wallet: stored, events } = await service.stateOf(id);
      expect([stored['balance'], stored['version'], events]).toEqual(['10', 101, 101]);
    });

    it('has given each documented answer that needs no fault', () => {
      const answers = {
        'post /wallets': [201, 400],
        'get /wallets': [200, 400],
        'get /wallets/{walletId}': [200, 400, 404],
        'get /wallets/{walletId}/events': [200],
        'post /wallets/{walletId}/deposit': [200, 400, 409, 412, 413, 415, 422],
        'post /wallets/{walletId}/withdraw': [409],
        'post /wallets/{walletId}/close': [409],
      };
      for (const [operation, statuses] of Object.entries(answers))
        for (const status of statuses) expect(service.contract.seen).toContain(`${operation} ${status}`);
    });
  });
}
