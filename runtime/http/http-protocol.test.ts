import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fixedPrincipal } from '../access/authenticator.js';
import { RequestLimits } from '../access/request-limits.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { UnauthenticatedError } from '../errors.js';
import { createMetrics } from '../observability/prometheus.js';
import { LiveFeeds, type LiveFeedsOptions } from './feed/live-feeds.js';
import type { HttpServer, HttpServerOptions } from './http-server.js';
import { sendRaw } from './test-support/raw-client.js';
import { WalletApplication } from './test-support/wallet-server.js';

let app: WalletApplication;
let server: HttpServer;
let port: number;
let path: string;

async function start(options: Partial<HttpServerOptions> = {}): Promise<void> {
  app = new WalletApplication();
  path = `/wallets/${app.open()}/deposit`;
  server = app.server(options);
  ({ port } = await server.listen({ host: '127.0.0.1', port: 0 }));
}

async function restart(options: Partial<HttpServerOptions>): Promise<void> {
  await server.close(0);
  await start(options);
}

beforeEach(() => start());
afterEach(() => server.close(0));

/** Far above the tested limits, for busy machines, and far below the times without them. */
const SOON_MS = 18_000;

/** A deposit with these header lines and this body, byte by byte as given. */
const deposit = (headers: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;

const valid = (): string => deposit('Content-Length: 12\r\n', '{"amount":1}');

describe('a server with accepted hosts', () => {
  beforeEach(() => restart({ hosts: ['api.example'], metrics: createMetrics({ statistics: () => [] }) }));

  const get = async (target: string, host: string): Promise<number> =>
    (await sendRaw(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status;

  it('answers the probes of callers that know only its address, and nothing else', async () => {
    for (const probe of ['/health/live', '/health/ready?verbose', '/metrics'])
      expect(await get(probe, '10.0.0.7:8080')).toBe(200);
    for (const other of ['/docs', '/openapi.json', '/health', '/metrics/x', '/wallets'])
      expect(await get(other, '10.0.0.7:8080')).toBe(421);
  });
});

describe('a target in absolute form', () => {
  it('names the host instead of the header Host', async () => {
    await restart({ hosts: ['api.example'] });
    const get = async (target: string, host: string): Promise<number> =>
      (await sendRaw(port, `GET http://${target}/docs HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status;
    expect(await get('evil.example', 'api.example')).toBe(421);
    expect(await get('api.example:80', 'evil.example')).toBe(200);
    expect(await get('api.example', 'a b')).toBe(400);
  });
});

describe('framing', () => {
  it.each([
    ['content-length and chunked', 'Content-Length: 12\r\nTransfer-Encoding: chunked\r\n'],
    ['two lengths', 'Content-Length: 12\r\nContent-Length: 13\r\n'],
    ['a folded header', 'X-A: b\r\n c\r\nContent-Length: 12\r\n'],
    ['a bare LF', 'X-A: b\nContent-Length: 12\r\n'],
    ['a space before the colon', 'Content-Length : 12\r\n'],
    ['a NUL in a header', 'X-A: a\0b\r\nContent-Length: 12\r\n'],
    ['two transfer codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
    ['an unknown transfer coding', 'Transfer-Encoding: xchunked\r\n'],
    ['chunked that is not last', 'Transfer-Encoding: chunked, identity\r\n'],
  ])('%s is answered with 400, and the connection is closed', async (_what, headers) => {
    const { status, text, closed } = await sendRaw(port, deposit(headers, '{"amount":1}'));
    expect(status).toBe(400);
    expect(closed).toBe(true);
    expect(text).toContain('application/problem+json');
    expect(text).toContain('"code":"HTTP_MALFORMED_REQUEST"');
    expect(app.executions).toHaveLength(0);
    expect((await sendRaw(port, valid())).status).toBe(200);
  });

  it('a broken chunk is answered with 400 and runs nothing', async () => {
    const broken = deposit('Transfer-Encoding: chunked\r\n', '5\r\n{"amount":1}\r\n');
    expect(await sendRaw(port, broken)).toMatchObject({ status: 400, closed: true });
    expect(app.executions).toHaveLength(0);
  });

  it('answers one request after the other over one connection, a refused one between', async () => {
    const broken = deposit('Content-Length: 10\r\n', '{"amount":');
    const { text } = await sendRaw(port, valid() + broken + valid());
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'HTTP/1.1 200']);
  });

  it.each([
    ['a transfer coding', 'Transfer-Encoding: gzip, chunked\r\n', '3\r\nabc\r\n0\r\n\r\n', 400],
    ['an expectation', 'Content-Length: 3\r\nExpect: x\r\n', 'abc', 417],
  ])('runs nothing behind a refusal of %s, and closes', async (_what, headers, body, status) => {
    const answer = await sendRaw(port, deposit(headers, body) + valid(), 20_000);
    expect([answer.status, answer.closed]).toEqual([status, true]);
    // A request that was begun would have been executed before this one.
    expect((await sendRaw(port, valid())).status).toBe(200);
    expect(app.executions).toHaveLength(1);
  });

  it('survives a client that disconnects in the middle of a body', async () => {
    await sendRaw(port, deposit('Content-Length: 100\r\n', '{"amount"'), 50);
    expect(app.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect((await sendRaw(port, valid())).status).toBe(200);
  });
});

describe('sizes', () => {
  it('answers 413 to a declared length, before the body has come', async () => {
    const { status, closed, tookMs } = await sendRaw(port, deposit('Content-Length: 65537\r\n', '{'));
    expect([status, closed]).toEqual([413, true]);
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  it('closes the connection after a refused body has been read to its end', async () => {
    const body = `{"amount":1${' '.repeat(65_537 - 12)}}`;
    const { status, closed, text } = await sendRaw(port, deposit('Content-Length: 65537\r\n', body), 20_000);
    expect([status, closed]).toEqual([413, true]);
    expect(text.toLowerCase()).toContain('connection: close');
  });

  it('sends nothing after the refusal of a body that then breaks', async () => {
    const chunk = `8000\r\n${' '.repeat(32_768)}\r\n`;
    const { text, closed } = await sendRaw(
      port,
      deposit('Transfer-Encoding: chunked\r\n', `${chunk.repeat(3)}broken\r\n`),
      20_000,
    );
    expect([text.match(/HTTP\/1\.1 \d+/g), closed]).toEqual([['HTTP/1.1 413'], true]);
  });

  it('passes the last of many headers on where so many are allowed', async () => {
    await restart({ limits: { headerCount: 4_000, headerBytes: 65_536 } });
    const headers = `${'a:1\r\n'.repeat(3_000)}Idempotency-Key: last\r\nContent-Length: 12\r\n`;
    expect((await sendRaw(port, deposit(headers, '{"amount":1}'))).status).toBe(200);
    expect(app.executions[0]?.configuration?.idempotencyKey).toBe('last');
  });

  it('lets pages of an allowed origin read a 431', async () => {
    const cors = { origins: ['https://app.example'], credentials: false };
    await restart({ cors });
    const headers = `Host: a\r\nOrigin: https://app.example\r\nX-A: ${'x'.repeat(20_000)}`;
    const { status, text } = await sendRaw(port, `GET / HTTP/1.1\r\n${headers}\r\n\r\n`);
    expect(status).toBe(431);
    expect(text).toContain('"code":"HTTP_HEADERS_TOO_LARGE"');
    expect(text).toContain('access-control-allow-origin: https://app.example\r\n');
  });
});

describe('slow clients', () => {
  const quick = { headersTimeoutMs: 300, requestTimeoutMs: 600 };

  it('get 408 for a body that stalls', async () => {
    await restart({ limits: quick });
    const { status, closed, tookMs } = await sendRaw(
      port,
      deposit('Content-Length: 12\r\n', '{"amount'),
      20_000,
    );
    expect([status, closed]).toEqual([408, true]);
    expect(tookMs).toBeLessThan(SOON_MS);
    expect(app.executions).toHaveLength(0);
  });

  it('are disconnected if they send nothing', async () => {
    await restart({ limits: quick });
    const { closed, tookMs } = await sendRaw(port, '', 20_000);
    expect(closed).toBe(true);
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  it('do not prevent 500 other connections', async () => {
    await restart({ limits: { headersTimeoutMs: 700, requestTimeoutMs: 1_000 } });
    const text = 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
    const sockets: Socket[] = Array.from({ length: 500 }, () =>
      connect(port, '127.0.0.1').on('error', () => {}),
    );
    let sent = 0;
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(text[sent % text.length] ?? '');
      sent += 1;
    }, 50);
    try {
      for (let round = 0; round < 5; round += 1) {
        const { status, tookMs } = await sendRaw(
          port,
          valid().replace('\r\n', '\r\nConnection: close\r\n'),
          20_000,
        );
        expect(status).toBe(200);
        expect(tookMs).toBeLessThan(SOON_MS);
      }
      await expect.poll(() => sockets.filter(({ closed }) => !closed).length, { timeout: 20_000 }).toBe(0);
    } finally {
      clearInterval(drip);
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('closing', () => {
  it('finishes the current request, then closes the connection', async () => {
    let finish = (): void => {};
    const started = new Promise<void>((resolve) => {
      app.behaviour = () => {
        resolve();
        return new Promise((done) => {
          finish = () => done([...app.wallets.values()][0]);
        });
      };
    });
    const answer = sendRaw(port, valid(), 5_000);
    await started;
    const closed = server.close();
    setTimeout(() => finish(), 100);
    const { status, closed: byServer } = await answer;
    // While the listener is still open, an answer must not make its client reconnect.
    expect([status, byServer]).toEqual([200, true]);
    await closed;
  });

  it('does not wait for idle connections', async () => {
    const idle = sendRaw(port, valid(), 5_000);
    await expect.poll(() => app.executions.length, { timeout: 20_000 }).toBe(1);
    const startMs = performance.now();
    await server.close();
    expect(performance.now() - startMs).toBeLessThan(SOON_MS);
    expect((await idle).closed).toBe(true);
  });

  it('waits for requests that have begun to arrive, but not beyond the time that clients have', async () => {
    await restart({ limits: { headersTimeoutMs: 500, requestTimeoutMs: 1_000 } });
    const silent = sendRaw(port, '', 60_000);
    const half = sendRaw(port, deposit('Content-Length: 12\r\n', '{"amount'), 60_000);
    const late = connect(port, '127.0.0.1');
    late.write(valid().slice(0, -5));
    const answered = new Promise((resolve) =>
      late.once('data', (chunk) => resolve(String(chunk).slice(0, 12))),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closed = server.close(60_000);
    setTimeout(() => late.write(valid().slice(-5)), 200);
    expect(await answered).toBe('HTTP/1.1 200');
    await closed;
    expect([await silent, await half]).toMatchObject([{ status: 408 }, { status: 408 }]);
  });

  it('ends live feeds only after it stops listening, so that their clients reconnect elsewhere', async () => {
    const feeds = new LiveFeeds({ read: async () => [], defaultShard: () => ShardIdentifier.of(0, 0) });
    const reconnected = new Promise((resolve) => {
      vi.spyOn(feeds, 'close').mockImplementation(() => {
        const client = connect(port, '127.0.0.1', () => resolve(client.destroy()));
        client.on('error', (error) => resolve(Reflect.get(error, 'code')));
      });
    });
    await restart({ feeds });
    await server.close();
    expect(await reconnected).toBe('ECONNREFUSED');
  });

  it('cuts off requests that do not finish in time', async () => {
    app.behaviour = () => new Promise(() => {});
    const answer = sendRaw(port, valid(), 5_000);
    await expect.poll(() => app.executions.length, { timeout: 20_000 }).toBe(1);
    await server.close(100);
    expect((await answer).status).toBe(0);
  });
});

/** Serves a wallet as a live feed. */
async function serveFeed(more: Partial<HttpServerOptions>, options: Partial<LiveFeedsOptions> = {}) {
  await server.close(0);
  const feeds = new LiveFeeds({
    read: async () => [[]],
    defaultShard: () => ShardIdentifier.of(0, 0),
    ...options,
  });
  app = new WalletApplication();
  const routes = app.routes.map((route) =>
    route.method === 'GET' && route.path === '/wallets/{walletId}' ? { ...route, feed: 'walletId' } : route,
  );
  server = app.server({ feeds, routes, ...more });
  const { url } = await server.listen({ host: '127.0.0.1', port: 0 });
  return { feeds, wallet: `${url}/wallets/${app.open()}` };
}

it('counts a live feed as a concurrent request of its caller, and in the metrics, until it ends', async () => {
  const metrics = createMetrics({ statistics: () => [] });
  const { wallet } = await serveFeed({ metrics, callers: new RequestLimits({ concurrentRequests: 1 }) });
  const leaving = new AbortController();
  const stream = await fetch(wallet, {
    headers: { accept: 'text/event-stream', 'x-request-id': 'mine' },
    signal: leaving.signal,
  });
  expect([stream.status, stream.headers.get('x-request-id')]).toEqual([200, 'mine']);
  expect((await fetch(wallet)).status).toBe(429);
  expect(await metrics.render()).toContain('fw_http_open_feeds 1');
  leaving.abort();
  await expect.poll(async () => (await fetch(wallet)).status, { timeout: 20_000 }).toBe(200);
  expect(await metrics.render()).toContain('fw_http_open_feeds 0');
});

it('ends a live feed once its caller is refused', async () => {
  let isRevoked = false;
  const { wallet } = await serveFeed(
    {
      authenticator: (request) => {
        if (isRevoked) throw new UnauthenticatedError('The API key was revoked', { challenge: 'Bearer' });
        return fixedPrincipal('tester')(request);
      },
    },
    { pollMs: 5, authenticateMs: 5 },
  );
  const stream = await fetch(wallet, { headers: { accept: 'text/event-stream' } });
  expect(stream.status).toBe(200);
  isRevoked = true;
  await stream.text();
});

it('answers HEAD of a live feed with the headers of the stream, and ends it', async () => {
  const { feeds, wallet } = await serveFeed({ callers: new RequestLimits({ concurrentRequests: 1 }) });
  const headers = { accept: 'text/event-stream' };
  const response = await fetch(wallet, { method: 'HEAD', headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  expect([await response.text(), feeds.size]).toEqual(['', 0]);
  // Its place among the concurrent requests of the caller is free again.
  await expect.poll(async () => (await fetch(wallet)).status, { timeout: 20_000 }).toBe(200);
});

it('answers 100 to a client that waits before it sends its body', async () => {
  const { text } = await sendRaw(
    port,
    deposit('Content-Length: 12\r\nExpect: 100-continue\r\n', '{"amount":1}'),
  );
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
});
