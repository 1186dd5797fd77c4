import { createHmac, timingSafeEqual } from 'node:crypto';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Authenticator } from '../access/authenticator.js';
import { gate } from '../concurrency/test-support/gate.js';
import { Decimal } from '../domain/decimal.js';
import { principalName } from '../domain/principal.js';
import { UnauthenticatedError } from '../errors.js';
import { createMetrics } from '../observability/prometheus.js';
import type { HttpServer, HttpServerOptions } from './http-server.js';
import type { RouteTools } from './route-tools.js';
import type { CustomRoutes } from './server-plugin.js';
import { WalletApplication } from './test-support/wallet-server.js';

const app = new WalletApplication();
const SECRET = 'secret of the sender';
const byName: Authenticator = ({ headers }) => {
  if (typeof headers['x-user'] !== 'string')
    throw new UnauthenticatedError('Name yourself', { challenge: 'X' });
  return { name: headers['x-user'] };
};
const WEBHOOK = { config: { rawBody: true }, bodyLimit: 1_000 };

function isSigned(body: Buffer, signature: unknown): boolean {
  const expected = createHmac('sha256', SECRET).update(body).digest('hex');
  return signature === expected && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
}

const deposit = app.routes.find(({ operation }) => operation === 'WalletDepositMoneyAction')?.action;

/** Values that are no errors, by the route that throws them. */
const THROWN = { '/undefined': undefined, '/null': null, '/text': 'hunter2' };

const routes = async (fastify: FastifyInstance, { authenticate, execute }: RouteTools): Promise<void> => {
  fastify.get('/whoami', async (request) => ({
    ...(await authenticate(request)),
    query: request.query,
  }));
  fastify.post<{ Params: { id: string } }>('/webhooks/:id', WEBHOOK, async (request, reply) => {
    const body = request.body as Buffer;
    if (!isSigned(body, request.headers['x-signature'])) return reply.code(403).send({ valid: false });
    return { valid: true, bytes: body.length };
  });
  fastify.post('/again', async (request) => {
    if (deposit === undefined) throw new Error('no action');
    const { hook } = request.body as { hook: string };
    const options = hook === '' ? {} : { idempotencyKey: hook, principal: { name: 'hooks' } };
    const params = { amount: new Decimal('1.5') } as never;
    return (await execute(request, deposit, params, options)) as object;
  });
  fastify.get('/slow', { handlerTimeout: 30 }, (request) => {
    return new Promise<object>((resolve) => request.signal.addEventListener('abort', () => resolve({})));
  });
  fastify.get('/teapot', () => {
    throw Object.assign(new Error('No coffee here'), { statusCode: 418 });
  });
  fastify.get('/fault', () => {
    throw new Error('a password: hunter2');
  });
  fastify.get('/header', (_request, reply) => reply.header('x-echo', 'hunter2\r\nx-evil: 1').send({}));
  fastify.get('/header/async', async (_request, reply) => {
    reply.header('bad name', 'hunter2');
    return {};
  });
  for (const [path, thrown] of Object.entries(THROWN))
    fastify.get(path, () => {
      throw thrown;
    });
};

let server: HttpServer;
let base: string;

async function listen(options: Partial<HttpServerOptions>): Promise<HttpServer> {
  const made = app.server({ authenticator: byName, ...options });
  base = (await made.listen({ host: '127.0.0.1', port: 0 })).url;
  return made;
}

async function call(method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(base + path, { method, ...init });
  const text = await response.text();
  const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
}

const metrics = createMetrics({ statistics: () => [] });

describe('Custom routes', () => {
  beforeAll(async () => {
    server = await listen({ customRoutes: routes, metrics });
  });
  beforeEach(() => app.reset());
  afterAll(() => server.close(0));

  it('authenticate as generated routes do, and read queries with lists', async () => {
    const { body, headers } = await call('GET', '/whoami?tag=a&tag=b', { headers: { 'x-user': 'ann' } });
    expect(body).toEqual({ name: 'ann', claims: {}, query: { tag: ['a', 'b'] } });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const refused = await call('GET', '/whoami');
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('X');
    expect(refused.body).toMatchObject({ code: 'FW_UNAUTHENTICATED', instance: '/whoami' });
  });

  it('execute actions under the key of the request, or under one of their own', async () => {
    app.behaviour = (_params, configuration) => {
      configuration?.onReport?.({ replayed: true } as never);
      return { key: configuration?.idempotencyKey, trace: configuration?.traceContext };
    };
    const headers = { 'x-user': 'ann', 'content-type': 'application/json' };
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const own = { ...headers, 'idempotency-key': 'k-1', traceparent: trace };
    const first = await call('POST', '/again', { headers: own, body: '{"hook":""}' });
    expect(first.body).toEqual({ key: 'k-1', trace });
    expect(first.headers.get('idempotency-replayed')).toBe('true');
    const second = await call('POST', '/again', { headers, body: '{"hook":"evt_7"}' });
    expect(second.body).toEqual({ key: 'evt_7' });
    expect(app.executions.map(({ principal }) => principalName(principal))).toEqual(['ann', 'hooks']);
  });

  it('refuse keys and bodies that generated routes refuse', async () => {
    const headers = { 'x-user': 'ann', 'content-type': 'application/json' };
    const post = (body: string, more: Record<string, string> = {}) =>
      call('POST', '/again', { headers: { ...headers, ...more }, body });
    expect((await post('{"hook":""}', { 'idempotency-key': 'a b' })).status).toBe(400);
    expect((await post('{"hook":1,"hook":2}')).body).toMatchObject({ code: 'HTTP_MALFORMED_BODY' });
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
    const nowhere = await call('POST', '/nowhere', { headers: { 'content-type': 'text/plain' }, body: '{' });
    expect(nowhere.status).toBe(404);
    expect(app.executions).toEqual([]);
  });

  it('refuse a query that is not valid percent-encoded UTF-8', async () => {
    const headers = { 'x-user': 'ann' };
    for (const query of ['%zz', 'a=%', 'a=%C3', '%FF=1']) {
      expect(await call('GET', `/whoami?${query}`, { headers })).toMatchObject({
        status: 400,
        body: { code: 'HTTP_MALFORMED_REQUEST' },
      });
    }
    const { body } = await call('GET', '/whoami?a=1+2&__proto__=x&b', { headers });
    expect(body['query']).toEqual(JSON.parse('{"a":"1 2","__proto__":"x","b":""}'));
  });

  it('get the bytes of a webhook, within their own limit', async () => {
    const body = '{"amount": 1.50 }';
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const signed = { 'x-signature': signature, 'content-type': 'application/json' };
    const valid = await call('POST', '/webhooks/stripe', { headers: signed, body });
    expect(valid.body).toEqual({ valid: true, bytes: body.length });
    expect((await call('POST', '/webhooks/stripe', { headers: signed, body: `${body} ` })).status).toBe(403);
    const large = await call('POST', '/webhooks/stripe', { headers: signed, body: 'x'.repeat(1_001) });
    expect(large).toMatchObject({ status: 413, body: { code: 'HTTP_BODY_TOO_LARGE' } });
  });

  it('answer errors with problems, and reveal nothing of faults', async () => {
    expect((await call('GET', '/teapot')).body).toMatchObject({
      status: 418,
      code: 'HTTP_REFUSED',
      detail: 'No coffee here',
    });
    const fault = await call('GET', '/fault');
    expect(fault).toMatchObject({ status: 500, body: { code: 'HTTP_INTERNAL' } });
    expect(JSON.stringify(fault.body)).not.toContain('hunter2');
    expect(app.log).toContainEqual(expect.objectContaining({ path: '/fault', error: 'a password: hunter2' }));
  });

  it.each(Object.keys(THROWN))('answer with a problem whatever they throw: %s', async (path) => {
    const { status, body } = await call('GET', path);
    expect([status, body['code']]).toEqual([500, 'HTTP_INTERNAL']);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(app.log).toContainEqual(expect.objectContaining({ path, requestId: body['requestId'] }));
  });

  it.each(['/header', '/header/async'])('answer with a problem for an invalid header: %s', async (path) => {
    const { status, headers, body } = await call('GET', path);
    expect([status, body['code']]).toEqual([500, 'HTTP_INTERNAL']);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-request-id')).toBe(body['requestId']);
    expect(app.log).toContainEqual(expect.objectContaining({ path, requestId: body['requestId'] }));
  });

  it('end at their time-out', async () => {
    expect(await call('GET', '/slow')).toMatchObject({ status: 504, body: { code: 'HTTP_ROUTE_TIMEOUT' } });
  });

  it('are known to 405, OPTIONS and metrics', async () => {
    const wrong = await call('GET', '/webhooks/stripe');
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('OPTIONS, POST');
    await call('GET', '/whoami');
    const text = await metrics.render();
    expect(text).toContain('route="/webhooks/{id}"');
  });
});

describe('Custom routes under denial by default', () => {
  beforeAll(async () => {
    app.reset();
    app.behaviour = () => ({ done: true });
    server = await listen({ customRoutes: routes, denyByDefault: true });
  });
  afterAll(() => server.close(0));

  it('execute no action without a rule for callers, and any for a principal that they name', async () => {
    const headers = { 'x-user': 'ann', 'content-type': 'application/json' };
    const refused = await call('POST', '/again', { headers, body: '{"hook":""}' });
    expect(refused).toMatchObject({ status: 403, body: { code: 'FW_FORBIDDEN' } });
    expect(app.executions).toEqual([]);
    expect((await call('POST', '/again', { headers, body: '{"hook":"evt_8"}' })).body).toEqual({
      done: true,
    });
  });
});

/** A plugin that sets a header of every answer, and refuses some requests. */
const withHeader = Object.assign(
  async (fastify: FastifyInstance, options: { readonly value: string }): Promise<void> => {
    fastify.addHook('onRequest', async (request, reply) => {
      reply.header('access-control-allow-origin', options.value);
      if (request.headers['x-limit'] !== undefined)
        throw Object.assign(new Error('Too many requests'), { statusCode: 429 });
    });
    fastify.addContentTypeParser('application/json', (_request, _payload, done) => done(null, {}));
  },
  { [Symbol.for('skip-override')]: true },
);

describe('Custom routes under load', () => {
  beforeEach(() => app.reset());
  afterEach(() => server.close(0));
  afterAll(() => app.reset());

  it('wait for admission as generated routes do, and are refused with the headers of plugins', async () => {
    const { opened: freed, open: free } = gate();
    let entered = 0;
    const custom: CustomRoutes = (fastify) => {
      fastify.get('/held', async () => {
        entered += 1;
        return freed.then(() => ({}));
      });
      fastify.get('/stream', { config: { admission: false } }, async () => ({}));
    };
    app.behaviour = async () => freed;
    const plugins: HttpServerOptions['plugins'] = [[withHeader, { value: 'https://app.example' }]];
    server = await listen({ customRoutes: custom, plugins });
    const headers = { 'x-user': 'ann', 'content-type': 'application/json' };
    const [id, body] = [app.open(), '{"amount":"1"}'];
    // Some are refused at their head, some after they have waited for a place.
    const held = Array.from({ length: 700 }, (_, at) => call(at % 2 > 0 ? 'GET' : 'HEAD', '/held'));
    const deposits = Array.from({ length: 700 }, () =>
      call('POST', `/wallets/${id}/deposit`, { headers, body }),
    );
    for (const [calls, code] of [
      [held, 'HTTP_BUSY'],
      [deposits, 'FW_SHARD_BUSY'],
    ] as const) {
      const refused: Awaited<ReturnType<typeof call>>[] = [];
      for (const each of calls) each.then((answer) => answer.status === 503 && refused.push(answer));
      await expect.poll(() => refused.length, { timeout: 100_000 }).toBeGreaterThanOrEqual(700 - 256);
      for (const answer of refused) {
        expect(answer.body['code'] ?? code).toBe(code);
        expect(answer.headers.get('retry-after')).not.toBeNull();
        expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
      }
    }
    expect((await call('GET', '/stream')).status).toBe(200);
    free();
    await Promise.all([...held, ...deposits]);
    // A request takes one slot, one for HEAD too.
    expect(entered).toBe(256);
  }, 300_000);

  it('take no slot for a client that has left while a hook was waiting', async () => {
    let waiting = 0;
    const { opened: released, open: release } = gate();
    const slowHook = Object.assign(
      async (fastify: FastifyInstance) => {
        fastify.addHook('onRequest', async ({ url }) => {
          if (url !== '/left') return;
          waiting += 1;
          await released;
        });
      },
      { [Symbol.for('skip-override')]: true },
    );
    const custom: CustomRoutes = (fastify) => void fastify.get('/left', async () => ({}));
    const own = createMetrics({ statistics: () => [] });
    server = await listen({ customRoutes: custom, plugins: [slowHook], metrics: own });
    const clients = Array.from({ length: 5 }, () => connect(Number(new URL(base).port), '127.0.0.1'));
    for (const client of clients) client.write('GET /left HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => waiting, { timeout: 100_000 }).toBe(5);
    for (const client of clients) client.resetAndDestroy();
    const open = (): Promise<number> =>
      new Promise((resolve) => server.fastify.server.getConnections((_error, count) => resolve(count)));
    await expect.poll(open, { timeout: 100_000 }).toBe(0);
    release();
    expect((await call('GET', '/left')).status).toBe(200);
    await expect.poll(() => own.render(), { timeout: 100_000 }).toContain('fw_http_busy_in_flight 0');
  });

  it('may answer 503 by themselves, which is no refusal of the server', async () => {
    const custom: CustomRoutes = (fastify) => {
      fastify.get('/closed', async (_request, reply) => reply.code(503).send({ open: 'tomorrow' }));
    };
    const own = createMetrics({ statistics: () => [] });
    server = await listen({ customRoutes: custom, metrics: own });
    for (let turn = 0; turn < 3; turn += 1)
      expect(await call('GET', '/closed')).toMatchObject({ status: 503, body: { open: 'tomorrow' } });
    const text = await own.render();
    expect(text).toMatch(/fw_http_requests?_\S*\{[^}]*route="\/closed"[^}]*status="503"[^}]*\} 3/);
    expect(text).not.toMatch(/fw_http_busy_refused_total\{[^}]*\} [1-9]/);
    expect(JSON.stringify(app.log)).not.toContain('/closed');
  });
});

describe('Plugins', () => {
  beforeAll(async () => {
    server = await listen({ plugins: [[withHeader, { value: 'https://app.example' }]] });
  });
  afterAll(() => server.close(0));

  it('add their headers to generated routes, pages, refusals and 404, and do not take bodies away', async () => {
    const id = app.open();
    const headers = { 'x-user': 'ann', 'content-type': 'application/json' };
    const answers = [
      await call('POST', `/wallets/${id}/deposit`, { headers, body: '{"amount":"1"}' }),
      await call('POST', `/wallets/${id}/deposit`, { headers, body: '{"amount":"0"}' }),
      await call('GET', '/openapi.json'),
      await call('GET', '/nowhere'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 200, 404]);
    for (const answer of answers)
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
  });

  it('refuse requests of generated routes with their own status', async () => {
    const limited = await call('GET', `/wallets/${app.open()}`, {
      headers: { 'x-user': 'a', 'x-limit': '1' },
    });
    expect(limited).toMatchObject({
      status: 429,
      body: { title: 'Too Many Requests', code: 'HTTP_REFUSED' },
    });
  });
});

describe('A start', () => {
  it.each(['/wallets/:other/deposit', '/wallets'])('refuses %s, which is generated already', async (path) => {
    const custom: CustomRoutes = (fastify) => void fastify.post(path, async () => ({}));
    const message = `Method 'POST' already declared for route '${path}'`;
    await expect(listen({ customRoutes: custom })).rejects.toThrow(message);
  });

  it('lets a custom route replace a page', async () => {
    const custom: CustomRoutes = (fastify) => void fastify.get('/docs', async () => ({ own: true }));
    server = await listen({ customRoutes: custom });
    expect((await call('GET', '/docs')).body).toEqual({ own: true });
    await server.close(0);
  });
});
