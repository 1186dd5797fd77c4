import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer } from '../databases/vitest.js';
import { RawConnection } from './raw-connection.js';
import { WalletService } from './wallet-service.js';

describe('The pages of the generated wallet', () => {
  let service: WalletService;

  beforeAll(async () => {
    service = await WalletService.start('postgresql', testServer());
  }, 120_000);
  afterAll(() => service?.close());

  const fetchPage = (path: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(service.url + path, { headers });

  describe.each(['/docs', '/openapi.json'])('%s', (path) => {
    it('is compressed for clients that accept gzip, with its own tag', async () => {
      const plain = await fetchPage(path, { 'accept-encoding': 'identity' });
      const packed = await fetchPage(path, { 'accept-encoding': 'br;q=1, gzip;q=0.5' });
      expect([plain, packed].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
      const lengths = [plain, packed].map(({ headers }) => Number(headers.get('content-length')));
      expect(lengths[1]).toBeLessThan((lengths[0] ?? 0) / 4);
      expect(await packed.text()).toBe(await plain.text());
      for (const { headers } of [plain, packed]) expect(headers.get('vary')).toBe('accept-encoding');
      expect(packed.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    });

    it.each(['identity', 'gzip'])('is not sent again to a client that has it (%s)', async (coding) => {
      const first = await fetchPage(path, { 'accept-encoding': coding });
      const etag = first.headers.get('etag') ?? '';
      const again = await fetchPage(path, { 'accept-encoding': coding, 'if-none-match': etag });
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    });

    it.each(['', 'br', 'gzip;q=0', '*;q=0', 'identity'])('is sent as it is to %j', async (coding) => {
      const connection = await RawConnection.open(service.port);
      connection.socket.end(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${coding}\r\n\r\n`);
      const [answer] = await connection.untilAnswers(1);
      expect([answer?.status, answer?.headers.get('content-encoding')]).toEqual([200, undefined]);
      expect(() => gunzipSync(Buffer.from(answer?.text ?? '', 'latin1'))).toThrow();
    });
  });

  it.each([
    ['150.5', true],
    ['0.0001', true],
    ['"0.0001"', true],
    ['0.00001', false],
    ['0.3333333333333333', false],
    ['1e15', false],
    ['6.710914436993541e16', false],
    ['"0.00001"', false],
  ])('/openapi.json takes the amount %s as the server does', async (amount, isTaken) => {
    const body = `{"amount":${amount}}`;
    const { status } = await service.post(`/wallets/${await service.openWallet()}/deposit`, body);
    expect(status).toBe(isTaken ? 200 : 400);
    expect(service.contract.allows('WalletDepositMoneyRequest', body)).toBe(isTaken);
  });
});
