import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer } from '../databases/vitest.js';
import { RawConnection } from './raw-connection.js';
import { WalletService } from './wallet-service.js';

const ROUNDS = 20;
const FLOOD = 2_000;
/** Far more than the kernel buffers for a connection that the client does not read. */
const FLOOD_BYTES = 24_000_000;
/** Requests that Node may parse before the connection is paused: those of a few reads of 64 KiB. */
const MOST_TAKEN = 10_000;

describe('A connection to the generated wallet', () => {
  let service: WalletService;
  /** A wallet with a balance of 100. */
  let wallet: string;

  beforeAll(async () => {
    service = await WalletService.start('postgresql', testServer(), { answerTimeoutMs: 1_500 });
    wallet = await service.openWallet();
  }, 120_000);
  afterAll(() => service?.close());

  const get = (path: string, headers = 'Host: a\r\n'): string => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
  const deposit = (amount = '1', headers = ''): string => {
    const body = JSON.stringify({ amount });
    const lines = `Host: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}`;
    return `POST /wallets/${wallet}/deposit HTTP/1.1\r\n${lines}\r\n${body}`;
  };
  const versionOf = ({ text }: { readonly text: string }): unknown => JSON.parse(text).version;
  const storedVersion = async (): Promise<number> =>
    Number((await service.stateOf(wallet)).wallet['version']);
  const send = (bytes: string): Promise<RawConnection> => RawConnection.send(service.port, bytes);

  describe('with pipelined requests', () => {
    it('serves them in their order: a GET sees the POST before it', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const connection = await RawConnection.open(service.port);
        connection.write(deposit() + get(`/wallets/${wallet}`));
        const [first, second] = await connection.untilAnswers(2);
        connection.socket.destroy();
        expect([first?.status, second?.status]).toEqual([200, 200]);
        expect(second && versionOf(second)).toBe(first && versionOf(first));
      }
    });

    it.each([1, 3])('answers all of %i before the end of what the client sends', async (count) => {
      const before = await storedVersion();
      const { answers, error } = await send(deposit().repeat(count));
      expect(answers.map(versionOf)).toEqual(Array.from({ length: count }, (_, at) => before + at + 1));
      expect(error).toBeUndefined();
    });

    it('answers the valid one before it refuses what follows', async () => {
      const before = await storedVersion();
      const connection = await RawConnection.open(service.port);
      connection.write(`${deposit()}BROKEN\r\n\r\n${deposit()}`);
      await connection.untilClosed();
      expect(connection.statuses()).toEqual([200, 400]);
      expect(await storedVersion()).toBe(before + 1);
    });

    it.each([
      ['in single bytes', 1],
      ['in pieces that fit nothing', 7],
    ])('reads them %s', async (_what, size) => {
      const before = await storedVersion();
      const body = `5\r\n{"amo\r\n${'8;x=y'}\r\nunt":"1"\r\n1\r\n}\r\n0\r\nX-Trailer: 1\r\n\r\n`;
      const chunked = `POST /wallets/${wallet}/deposit HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
      const bytes = chunked + deposit() + get(`/wallets/${wallet}`) + chunked + get('/health/live');
      const connection = await RawConnection.open(service.port);
      connection.socket.setNoDelay(true);
      for (let at = 0; at < bytes.length; at += size) {
        connection.write(bytes.slice(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const answers = await connection.untilAnswers(5);
      connection.socket.destroy();
      expect(connection.statuses()).toEqual([200, 200, 200, 200, 200]);
      expect(answers.slice(0, 4).map(versionOf)).toEqual([before + 1, before + 2, before + 2, before + 3]);
    });

    it.each(['/health/live', '/openapi.json'])(
      'lets others have their turn between two of them (%s)',
      async (path) => {
        const flooding = await RawConnection.open(service.port);
        flooding.write(get(path).repeat(FLOOD));
        await flooding.untilAnswers(1);
        const other = await RawConnection.open(service.port);
        other.write(get('/health/live'));
        await other.untilAnswers(1);
        expect(flooding.answers.length).toBeLessThan(FLOOD / 2);
        other.socket.destroy();
        flooding.socket.destroy();
      },
    );

    it('starts no more of them than it can answer, and disconnects a client that does not read', async () => {
      const request = get('/docs');
      const connection = await RawConnection.open(service.port);
      const { localPort } = connection.socket;
      let begun = 0;
      const count = (message: unknown): void => {
        if ((message as { socket: Socket }).socket.remotePort === localPort) begun += 1;
      };
      subscribe('http.server.request.start', count);
      connection.socket.pause();
      connection.socket.write(request.repeat(FLOOD_BYTES / request.length));
      await expect.poll(() => connection.error, { timeout: 30_000 }).toBeDefined();
      unsubscribe('http.server.request.start', count);
      // The kernel buffers a few megabytes, of answers of about 60,000 bytes.
      expect(begun).toBeGreaterThan(0);
      expect(begun).toBeLessThan(MOST_TAKEN);
      expect((await service.call('GET', '/health/live')).status).toBe(200);
    }, 60_000);
  });

  describe('with headers that HTTP forbids', () => {
    const refusal = async (bytes: string): Promise<readonly unknown[]> => {
      const before = await storedVersion();
      const [answer] = (await send(bytes)).answers;
      expect(answer?.headers.get('content-type')).toBe('application/problem+json');
      expect(answer?.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer?.headers.get('cache-control')).toBe('no-store');
      expect(await storedVersion()).toBe(before);
      return [answer?.status, JSON.parse(answer?.text ?? '{}').code];
    };

    it('refuses so many that Node would drop the last ones, such as an idempotency key', async () => {
      const many = 'a:1\r\n'.repeat(2_000);
      expect(await refusal(deposit('1', `${many}Idempotency-Key: last\r\n`))).toEqual([
        431,
        'HTTP_HEADERS_TOO_LARGE',
      ]);
      const some = deposit('1', `${'a:1\r\n'.repeat(200)}Idempotency-Key: last-of-some\r\n`);
      const { answers } = await send(some + some);
      expect(answers.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([undefined, 'true']);
    });

    it.each([
      ...['', 'Host:\r\n', 'Host: a\r\nHost: a\r\n', 'Host: a\r\nhOST: b\r\n', 'Host: a, b\r\n'],
      ...['Host: a/b\r\n', 'Host: me@a\r\n', 'Host: a:port\r\n', 'Host: [::1\r\n'],
    ])('refuses the host of %j', async (headers) => {
      expect(await refusal(get(`/wallets/${wallet}`, headers))).toEqual([400, 'HTTP_MALFORMED_REQUEST']);
    });

    it.each(['a', 'a:80', 'wallet.example', '[::1]:8080', '127.0.0.1', 'a:'])(
      'takes the host %s',
      async (host) => {
        const { answers } = await send(get(`/wallets/${wallet}`, `Host: ${host}\r\n`));
        expect(answers.map(({ status }) => status)).toEqual([200]);
      },
    );

    it.each([
      ['GET / HTTP/2.0\r\nHost: a\r\n\r\n', 505, 'HTTP_VERSION_NOT_SUPPORTED'],
      ['FOO / HTTP/1.1\r\nHost: a\r\n\r\n', 501, 'HTTP_METHOD_NOT_IMPLEMENTED'],
      ['CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', 501, 'HTTP_METHOD_NOT_IMPLEMENTED'],
      ['GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'HTTP_MALFORMED_REQUEST'],
      [
        'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
        400,
        'HTTP_MALFORMED_REQUEST',
      ],
      ['no HTTP\r\n\r\n', 400, 'HTTP_MALFORMED_REQUEST'],
      ['\x16\x03\x01\x02\x00', 400, 'HTTP_MALFORMED_REQUEST'],
      ['GET / HTTP/1.1\nHost: a\n\n', 400, 'HTTP_MALFORMED_REQUEST'],
      ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'HTTP_MALFORMED_REQUEST'],
      [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 431, 'HTTP_HEADERS_TOO_LARGE'],
      ['GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'HTTP_MALFORMED_REQUEST'],
      ['GET wallets HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'HTTP_MALFORMED_REQUEST'],
    ])('answers %j with %i', async (bytes, status, code) => {
      expect(await refusal(bytes)).toEqual([status, code]);
    });

    it('opens no tunnel, and survives what follows a request for one', async () => {
      const { answers } = await RawConnection.send(
        service.port,
        `CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n${get('/health/live')}`,
      );
      expect(answers.map(({ status }) => status)).toEqual([501]);
      for (let other = 0; other < 3; other += 1)
        expect((await RawConnection.send(service.port, get('/health/live'))).statuses()).toEqual([200]);
    });

    it('refuses a transfer coding of HTTP/1.0', async () => {
      const bytes = deposit().replace('HTTP/1.1', 'HTTP/1.0');
      const coded = bytes.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
      expect(await refusal(coded)).toEqual([400, 'HTTP_MALFORMED_REQUEST']);
    });
  });

  it.each(['', 'Host: a\r\n'])('serves HTTP/1.0 (%j), and then closes', async (host) => {
    const connection = await RawConnection.open(service.port);
    connection.write(deposit().replace('HTTP/1.1', 'HTTP/1.0').replace('Host: a\r\n', host));
    await connection.untilClosed();
    expect(connection.statuses()).toEqual([200]);
    expect(connection.answers[0]?.headers.get('connection')).toBe('close');
  });

  it.each([
    ['OPTIONS', '/wallets', 204],
    ['OPTIONS', 'http://a:1/wallets', 204],
    ['OPTIONS', 'HTTP://a/wallets?x=y', 204],
    ['OPTIONS', '*', 204],
    ['DELETE', 'http://a/wallets', 405],
    ['DELETE', '*', 405],
    ['GET', 'http://a/health/live', 200],
    ['GET', 'http://a', 404],
    ['GET', 'http://a?x', 404],
  ])('answers %s of %s with %i', async (method, target, status) => {
    const { answers } = await send(`${method} ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answers.map((answer) => answer.status)).toEqual([status]);
  });
});
