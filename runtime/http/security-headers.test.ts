import { afterEach, expect, test } from 'vitest';
import { RawConnection } from '../../test/http/raw-connection.js';
import type { HttpServer, HttpServerOptions } from './http-server.js';
import { WalletApplication } from './test-support/wallet-server.js';

const app = new WalletApplication();
let server: HttpServer | undefined;

afterEach(async () => {
  app.reset();
  await server?.close(0);
  server = undefined;
});

const pages: HttpServerOptions['customRoutes'] = (fastify) => {
  fastify.get('/page', async (_request, reply) => reply.type('text/html').send('<h1>Hello</h1>'));
  fastify.get('/framed', async (_request, reply) =>
    reply.header('content-security-policy', 'frame-ancestors https://portal.example').send({}),
  );
};

async function listen(options: Partial<HttpServerOptions> = {}): Promise<string> {
  server = app.server(options);
  return (await server.listen({ host: '127.0.0.1', port: 0 })).url;
}

const NONE = "default-src 'none'; frame-ancestors 'none'";
const OF_ALL = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

test('every answer carries security headers, those of the parser and of refused bodies too', async () => {
  const url = await listen({ customRoutes: pages });
  const wallet = `/wallets/${app.open()}`;
  const [etag] = [(await fetch(url + wallet)).headers.get('etag') ?? ''];
  const json = { 'content-type': 'application/json' };
  const calls: readonly (readonly [string, RequestInit?])[] = [
    [wallet],
    [wallet, { method: 'HEAD' }],
    [wallet, { headers: { 'if-none-match': etag } }],
    ['/nowhere'],
    [wallet, { method: 'OPTIONS' }],
    [wallet, { method: 'DELETE' }],
    [`${wallet}/deposit`, { method: 'POST', headers: json, body: '{' }],
    [`${wallet}/deposit`, { method: 'POST', headers: json, body: 'x'.repeat(70_000) }],
    ['/health/live'],
    ['/openapi.json'],
  ];
  for (const [path, init] of calls) {
    const { headers, status } = await fetch(url + path, init);
    expect(Object.fromEntries(headers), `${path} ${status}`).toMatchObject({
      ...OF_ALL,
      'content-security-policy': NONE,
    });
    expect(headers.get('strict-transport-security')).toBeNull();
  }
  const { port } = new URL(url);
  for (const bytes of ['nonsense\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n']) {
    const { answers } = await RawConnection.send(Number(port), bytes);
    expect(answers.map(({ headers }) => headers.get('content-security-policy'))).toEqual([NONE]);
  }
});

test('pages keep what they need, and what a route sets wins', async () => {
  const url = await listen({ customRoutes: pages });
  const policyOf = async (path: string): Promise<string | null> =>
    (await fetch(url + path)).headers.get('content-security-policy');
  expect(await policyOf('/docs')).toMatch(/default-src 'none'; style-src/);
  expect(await policyOf('/page')).toBe("frame-ancestors 'none'");
  expect(await policyOf('/framed')).toBe('frame-ancestors https://portal.example');
  expect(Object.fromEntries((await fetch(`${url}/page`)).headers)).toMatchObject(OF_ALL);
});

const CORS = { origins: ['https://app.example'], credentials: false };
const preflight = (origin: string, method = 'POST'): RequestInit => ({
  method: 'OPTIONS',
  headers: { origin, 'access-control-request-method': method },
});
const corsHeaders = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

test('pages of other origins may not call unless the configuration names them', async () => {
  const url = await listen();
  const path = `${url}/wallets/${app.open()}`;
  expect(corsHeaders(await fetch(path, { headers: { origin: 'https://app.example' } }))).toEqual({});
  expect(corsHeaders(await fetch(`${path}/deposit`, preflight('https://app.example')))).toEqual({});
});

test('pages of named origins may call every route, and read refusals', async () => {
  const url = await listen({ cors: CORS, customRoutes: pages, authenticator: () => ({ name: 'ann' }) });
  const path = `${url}/wallets/${app.open()}`;
  const asked = await fetch(`${path}/deposit`, preflight('https://app.example'));
  expect(asked.status).toBe(204);
  expect(corsHeaders(asked)).toMatchObject({
    'access-control-allow-origin': 'https://app.example',
    'access-control-allow-methods': 'OPTIONS, POST',
    'access-control-allow-headers': expect.stringContaining('idempotency-key'),
    'access-control-max-age': '600',
  });
  const headers = { origin: 'https://app.example' };
  for (const target of [path, `${url}/nowhere`, `${url}/page`, `${url}/openapi.json`]) {
    const answer = await fetch(target, { headers });
    expect(corsHeaders(answer), target).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-expose-headers': expect.stringContaining('retry-after'),
    });
    expect(answer.headers.get('vary')).toMatch(/^origin/);
  }
  const stranger = await fetch(path, { headers: { origin: 'https://evil.example' } });
  expect(corsHeaders(stranger)).toEqual({});
  expect(stranger.headers.get('vary')).toBe('origin');
  expect(corsHeaders(await fetch(`${path}/deposit`, preflight('https://app.example.evil.test')))).toEqual({});
  // A browser sends the request only then, and shows its problem.
  const nowhere = await fetch(`${url}/nowhere`, preflight('https://app.example'));
  expect([nowhere.status, nowhere.headers.get('access-control-allow-methods')]).toEqual([204, 'POST']);
  const other = await fetch(`${path}/deposit`, preflight('https://app.example', 'PUT'));
  expect(other.headers.get('access-control-allow-methods')).toBe('OPTIONS, POST, PUT');
});

test('any origin may be let in, without credentials', async () => {
  const url = await listen({ cors: { ...CORS, origins: ['*'] } });
  const answer = await fetch(`${url}/health/live`, { headers: { origin: 'https://any.example' } });
  expect(corsHeaders(answer)).toMatchObject({ 'access-control-allow-origin': '*' });
  expect(answer.headers.get('vary')).toBeNull();
});
