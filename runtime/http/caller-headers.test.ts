import { afterEach, expect, it } from 'vitest';
import { type Authenticator, CredentialMissing } from '../access/authenticator.js';
import { RequestLimits } from '../access/request-limits.js';
import { ForbiddenError, UnauthenticatedError } from '../errors.js';
import { createMetrics } from '../observability/prometheus.js';
import type { HttpServer, HttpServerOptions } from './http-server.js';
import { WalletApplication } from './test-support/wallet-server.js';

const PATH = '/wallets/01942f5e-7c00-7a3b-8040-5d0e9c6b1f27';
const ID = /^[\w-]{12}-[0-9a-z]+$/;

let server: HttpServer | undefined;
afterEach(() => server?.close(0));

async function listening(options: Partial<HttpServerOptions> = {}): Promise<[string, WalletApplication]> {
  const application = new WalletApplication();
  server = application.server(options);
  const { url } = await server.listen({ host: '127.0.0.1', port: 0 });
  return [url, application];
}

it('answers with the id of the request, in header and problem, and makes one for a request without', async () => {
  const [base] = await listening({
    customRoutes: (fastify) => void fastify.get('/own', async ({ id }) => ({ id })),
  });
  const headers = { 'x-request-id': 'trace-7.a' };
  const failed = await fetch(`${base}/nowhere`, { headers });
  expect([
    failed.headers.get('x-request-id'),
    ((await failed.json()) as { requestId: string }).requestId,
  ]).toEqual(['trace-7.a', 'trace-7.a']);
  expect((await fetch(`${base}/health/live`, { headers })).headers.get('x-request-id')).toBe('trace-7.a');
  const own = await fetch(`${base}/own`, { headers });
  expect([own.headers.get('x-request-id'), await own.json()]).toEqual(['trace-7.a', { id: 'trace-7.a' }]);
  for (const sent of [{}, { 'x-request-id': 'no spaces' }, { 'x-request-id': 'x'.repeat(129) }])
    expect((await fetch(`${base}/health/live`, { headers: sent })).headers.get('x-request-id')).toMatch(ID);
});

const authenticate: Authenticator = ({ headers: { authorization } }) => {
  if (authorization === undefined) throw new CredentialMissing('A token is required');
  if (authorization !== 'Bearer good') throw new UnauthenticatedError('The token is refused: signature');
  return { name: 'carl' };
};

it('logs refused callers, at most once per second, route and reason, and counts them by reason', async () => {
  const forbid = async (): Promise<never> => {
    throw new ForbiddenError('carl may not run WalletGetAction on this', { principal: 'carl' });
  };
  const metrics = createMetrics({ statistics: () => [] });
  const options = { authenticator: authenticate, executor: { execute: forbid }, metrics };
  const [base, { log }] = await listening(options);
  const get = (authorization?: string): Promise<Response> =>
    fetch(`${base}${PATH}`, authorization === undefined ? {} : { headers: { authorization } });
  for (let index = 0; index < 20; index += 1) await get('Bearer stolen-secret');
  expect((await get()).headers.get('www-authenticate')).toMatch(/^Bearer/);
  await get('Bearer good');
  const refused = log.filter(({ message }) => message === 'caller refused');
  const common = { route: 'GET /wallets/{walletId}', path: PATH, address: '127.0.0.1' };
  const expected = [
    { status: 401, reason: 'invalid-credentials', requestId: expect.stringMatching(ID) },
    { status: 401, reason: 'no-credentials' },
    { status: 403, reason: 'rule', principal: 'carl' },
  ];
  for (const each of expected)
    expect(refused).toContainEqual(expect.objectContaining({ ...common, ...each }));
  const lines = refused.filter((entry) => JSON.stringify(entry).includes('invalid-credentials'));
  expect(lines.length).toBeLessThan(20);
  expect(JSON.stringify(log)).not.toContain('stolen-secret');
  const text = await metrics.render();
  expect(text).toContain('fw_http_refused_callers_total{status="401",reason="invalid-credentials"} 20');
  expect(text).toContain('fw_http_refused_callers_total{status="401",reason="no-credentials"} 1');
  expect(text).toContain('fw_http_refused_callers_total{status="403",reason="rule"} 1');
});

it('logs refused callers of a custom route under its pattern', async () => {
  const [base, { log }] = await listening({
    customRoutes: (fastify) =>
      void fastify.get('/own/:id', async () => {
        throw new UnauthenticatedError('Who are you?');
      }),
  });
  expect((await fetch(`${base}/own/7`)).status).toBe(401);
  expect(log).toContainEqual(
    expect.objectContaining({ message: 'caller refused', route: 'GET /own/:id', path: '/own/7' }),
  );
});

it('tells callers their limit, also when it is exceeded', async () => {
  const callers = new RequestLimits({ requestsPerSecond: 1, burst: 2 });
  const [base] = await listening({ callers });
  const answers = [
    await fetch(`${base}${PATH}`),
    await fetch(`${base}${PATH}`),
    await fetch(`${base}${PATH}`),
  ];
  expect(answers.map(({ status }) => status === 429)).toEqual([false, false, true]);
  for (const { headers } of answers) expect(headers.get('ratelimit-policy')).toBe('"caller";q=2;w=2');
  expect(answers.map(({ headers }) => headers.get('ratelimit'))).toEqual([
    '"caller";r=1;t=1',
    expect.stringMatching(/^"caller";r=0;t=[12]$/),
    '"caller";r=0;t=1',
  ]);
});

it('counts the requests to each route, also of actions whose classes have one name', async () => {
  const { routes } = new WalletApplication();
  const callers = new RequestLimits({ requestsPerSecond: 0.001 });
  const [base] = await listening({ callers, routes: routes.map((each) => ({ ...each, operation: 'Same' })) });
  const get = (path: string) => fetch(base + path).then(({ status }) => status === 429);
  expect([await get(PATH), await get('/wallets'), await get(PATH)]).toEqual([false, false, true]);
});
