import { METHODS, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Decimal } from '../domain/decimal.js';
import { RefusedError, ShardUnavailableError } from '../errors.js';
import type { LogEntry } from '../observability/logger.js';
import type { HttpServer, HttpServerOptions } from './http-server.js';
import { WalletApplication } from './test-support/wallet-server.js';

const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const JSON_TYPE = { 'content-type': 'application/json' };

let app: WalletApplication;
let server: HttpServer;
let base: string;
let wallet: string;
let loggedAtStart: readonly LogEntry[];

async function start(options: Partial<HttpServerOptions> = {}): Promise<void> {
  app = new WalletApplication();
  server = app.server(options);
  base = (await server.listen({ host: '127.0.0.1', port: 0 })).url;
  loggedAtStart = [...app.log];
}

beforeAll(() => start());
beforeEach(() => {
  app.reset();
  wallet = app.open();
});
afterAll(() => server.close(0));

async function call(method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(base + path, { method, ...init });
  const text = await response.text();
  const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
}

const post = (path: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
  call('POST', path, { body, headers });

const deposit = (body: string, headers?: Record<string, string>) =>
  post(`/wallets/${wallet}/deposit`, body, headers);

const newWallet = (fields: Record<string, unknown>): string =>
  JSON.stringify({ country: 'MX', ownerId: OWNER, currency: 'MXN', ...fields });

describe('POST /wallets', () => {
  it('answers 201 with the wallet, its location and its tag', async () => {
    const { status, headers, body } = await post('/wallets', newWallet({ initialBalance: '150.50' }));
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-80[4-7][0-9a-f]-[0-9a-f]{12}$/),
      shardGroup: 1,
      shardMember: 0,
      ownerId: OWNER,
      currency: 'MXN',
      balance: '150.5',
      state: 'OPENED',
      version: 1,
      createdDate: '2026-01-31T12:00:00.000Z',
    });
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('location')).toBe(`/wallets/${body['id']}`);
    expect(headers.get('etag')).toBe('"1"');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(Number(headers.get('content-length'))).toBeGreaterThan(0);
  });

  it('answers refused values with a problem that points at each of them', async () => {
    const { status, headers, body } = await post(
      '/wallets',
      newWallet({ initialBalance: null, currency: 'usd', balance: 1 }),
    );
    expect(status).toBe(400);
    expect(headers.get('content-type')).toBe('application/problem+json');
    const errors = [
      { pointer: '/balance', message: 'Unknown field "balance"' },
      { pointer: '/currency', message: 'currency must be an ISO 4217 currency code' },
      { pointer: '/initialBalance', message: 'balance cannot be null' },
    ];
    expect(body).toEqual({
      type: 'urn:fw-actions:problem:validation',
      title: 'Invalid input',
      status: 400,
      detail: errors.map(({ message }) => message).join('; '),
      instance: '/wallets',
      code: 'FW_VALIDATION',
      errors,
      requestId: headers.get('x-request-id'),
    });
  });

  it('lists no more than 32 problems', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, 1]));
    const { status, body } = await post('/wallets', newWallet(fields));
    expect(status).toBe(400);
    expect(body['errors']).toHaveLength(32);
    expect(body['detail']).toMatch(/and 4968 more$/);
  });
});

describe('POST /wallets/{id}/deposit', () => {
  it.each([
    ['what is not JSON', '{"amount":', "Malformed JSON: Object value expected after ':' at position 10"],
    ['a list', '[]', 'The body must be a JSON object'],
    ['nothing', '', 'The body is empty; a JSON object is expected'],
  ])('%s is refused', async (_what, text, detail) => {
    const { status, body } = await deposit(text);
    expect(status).toBe(400);
    expect(body['detail']).toBe(detail);
    expect(app.executions).toHaveLength(0);
  });

  it.each([
    'application/json; charset=utf-8',
    'Application/JSON;Charset="UTF-8"',
    'application/json; foo=bar',
  ])('the type %s is accepted', async (type) => {
    expect((await deposit('{"amount":1}', { 'content-type': type })).status).toBe(200);
  });

  it('accepts a body of exactly 64 KiB and refuses one byte more with 413', async () => {
    const padded = (length: number): string => `{"amount":1${' '.repeat(length - 12)}}`;
    expect((await deposit(padded(65_536))).status).toBe(200);
    const { status, body } = await deposit(padded(65_537));
    expect(status).toBe(413);
    expect(body).toMatchObject({
      code: 'HTTP_BODY_TOO_LARGE',
      detail: 'The body is larger than 65536 bytes',
    });
    expect((await deposit('{"amount":1}')).status).toBe(200);
  });

  it('answers 413 to a large body whose sender waits until it has sent everything', async () => {
    expect((await deposit('x'.repeat(5_000_000))).status).toBe(413);
  });
});

describe('ids in the path', () => {
  it.each([
    ['0190a000-0000-7000-8040-000000000001', 'FW_MODEL_NOT_FOUND'],
    ['0190a000-0000-7000-bfff-000000000001', 'FW_UNKNOWN_SHARD'],
  ])('%s is not found: %s', async (id, code) => {
    const { status, body } = await call('GET', `/wallets/${id}`);
    expect(status).toBe(404);
    expect(body['code']).toBe(code);
  });

  it.each(['/wallets/%zz', '/wallets/%', '/%00', '/wallets%00', '/%ff', '/wallets/%c0%af'])(
    'the path %s is malformed',
    async (path) => {
      const { status, headers, body } = await call('GET', path);
      expect(status).toBe(400);
      expect(headers.get('content-type')).toBe('application/problem+json');
      expect(headers.get('x-request-id')).toBe(body['requestId']);
    },
  );

  it('answers 414 to a path segment that is too long for an id', async () => {
    expect((await call('GET', `/wallets/${'x'.repeat(3_000)}`)).status).toBe(414);
  });
});

describe('limits of one route', () => {
  it('apply only to the route’s body', async () => {
    const close = await post(`/wallets/${wallet}/close`, `{${' '.repeat(20)}}`);
    expect(close).toMatchObject({ status: 413, body: { detail: 'The body is larger than 20 bytes' } });
    expect((await post(`/wallets/${wallet}/close`, '{}')).status).toBe(200);
    expect((await deposit('{"amount":"1", "recipient":"x"}')).status).toBe(200);
  });

  it('give its executions their time', async () => {
    await post(`/wallets/${wallet}/close`, '');
    await deposit('{"amount":"1"}');
    expect(app.executions.map(({ configuration }) => configuration?.timeoutMs)).toEqual([900, undefined]);
  });
});

describe('queries', () => {
  it('have lists of what stands several times, or once', async () => {
    await call('GET', `/wallets?ownerId=${OWNER}&shard=1&shard=0`);
    await call('GET', `/wallets?shard=7&ownerId=${OWNER}`);
    await call('GET', `/wallets?ownerId=${OWNER}`);
    expect(app.executions.map(({ params }) => params['shard'])).toEqual([[1, 0], [7], undefined]);
  });

  it('converts', async () => {
    expect((await call('GET', `/wallets?ownerId=${OWNER}&cursor=a+b%2Bc`)).status).toBe(200);
    expect(app.executions[0]?.params).toEqual({ ownerId: OWNER, cursor: 'a b+c' });
  });

  it.each([
    ['', 'ownerId is required'],
    [`ownerId=${OWNER}&limit=`, 'limit must be an integer'],
    [`ownerId=${OWNER}&limit=5&limit=5`, 'The parameter "limit" is given twice'],
    [`ownerId=${OWNER}&shard=1&shard=x`, 'shard[] must be a number'],
    [`ownerId=${OWNER}&foo=1`, 'Unknown parameter "foo"'],
    [`ownerId=${OWNER}&__proto__=1`, 'Unknown parameter "__proto__"'],
    [`ownerId=${OWNER}&cursor=%00`, 'cursor must not contain NUL or half of a surrogate pair'],
    [`ownerId=${OWNER}&cursor=%zz`, 'The query is not valid percent-encoded UTF-8'],
  ])('?%s is refused', async (query, detail) => {
    const { status, body } = await call('GET', `/wallets?${query}`);
    expect(status).toBe(400);
    expect(body['detail']).toBe(detail);
  });
});

/** Also of methods that `fetch` does not send. */
function statusOf(method: string, path: string, type?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': 1, ...(type === undefined ? {} : { 'content-type': type }) };
    request(`${base}${path}`, { method, headers }, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end('x');
  });
}

describe('methods', () => {
  it.each([
    ['PUT', '/wallets', 'GET, HEAD, OPTIONS, POST'],
    ['GET', '/wallets/x/deposit', 'OPTIONS, POST'],
    ['PATCH', '/wallets/x', 'DELETE, GET, HEAD, OPTIONS'],
    ['POST', '/health/live', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/wallets', 'GET, HEAD, OPTIONS, POST'],
  ])('%s %s is answered with 405 and Allow', async (method, path, allow) => {
    const { status, headers, body } = await call(method, path);
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe(allow);
    expect(body['code']).toBe('HTTP_METHOD_NOT_ALLOWED');
  });

  const unserved = METHODS.filter((method) => !['CONNECT', 'GET', 'HEAD', 'OPTIONS'].includes(method));
  it.each(unserved)('%s is refused where it is not served, with a body of any type', async (method) => {
    for (const type of [undefined, 'a/b', 'application/json'])
      expect([
        await statusOf(method, '/health/live', type),
        await statusOf(method, '/nothing', type),
      ]).toEqual([405, 404]);
  });

  it('names the allowed methods', async () => {
    const { status, headers } = await call('OPTIONS', '/wallets');
    expect(status).toBe(204);
    expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('serves HEAD like GET, without the body', async () => {
    const get = await call('GET', `/wallets/${wallet}`);
    const { status, headers, body } = await call('HEAD', `/wallets/${wallet}`);
    expect(status).toBe(200);
    expect(body).toEqual({});
    expect(headers.get('content-length')).toBe(get.headers.get('content-length'));
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('etag')).toBe('"1"');
  });

  it.each(['/', '/nothing', '/wallets/x/', '//wallets', '/WALLETS'])('serves nothing at %s', async (path) => {
    const { status, body } = await call('GET', path);
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 'HTTP_NOT_FOUND', instance: path });
  });

  it('answers without a body where an action has none', async () => {
    const { status, headers } = await call('DELETE', `/wallets/${wallet}`);
    expect(status).toBe(204);
    expect(headers.get('content-type')).toBeNull();
  });
});

describe('headers', () => {
  it.each([
    ['application/json', 200],
    ['*/*', 200],
    ['text/html,*/*;q=0.1', 200],
    ['text/html', 406],
    ['application/json;q=0, */*', 406],
  ])('Accept: %s gives %i', async (accept, expected) => {
    expect((await call('GET', `/wallets/${wallet}`, { headers: { accept } })).status).toBe(expected);
  });

  it.each([
    ['"1"', 200],
    ['"7", "1"', 200],
    ['*', 200],
    ['"2"', 412],
    ['W/"1"', 412],
    ['1', 400],
  ])('If-Match: %s gives %i', async (tag, expected) => {
    const { status } = await deposit('{"amount":1}', { ...JSON_TYPE, 'if-match': tag });
    expect(status).toBe(expected);
  });

  it.each([
    ['"1"', 304],
    ['W/"1"', 304],
    ['"5", "1"', 304],
    ['*', 304],
    ['"2"', 200],
    ['nonsense', 200],
  ])('If-None-Match: %s gives %i', async (tag, expected) => {
    const { status, headers } = await call('GET', `/wallets/${wallet}`, {
      headers: { 'if-none-match': tag },
    });
    expect(status).toBe(expected);
    expect(headers.get('etag')).toBe('"1"');
  });

  it('answers 304 for a list whose content has not changed', async () => {
    const list = `/wallets?ownerId=${OWNER}`;
    const first = await call('GET', list);
    const tag = String(first.headers.get('etag'));
    expect(tag).toMatch(/^"[\w-]{20}"$/);
    const again = await call('GET', list, { headers: { 'if-none-match': tag } });
    expect([again.status, again.headers.get('etag')]).toEqual([304, tag]);
    expect(again.headers.get('content-type')).toBeNull();
    for (const each of app.wallets.values()) each.balance = each.balance.plus(1);
    const changed = await call('GET', list, { headers: { 'if-none-match': tag } });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(tag);
  });

  it.each([
    ['a', 200],
    ['~'.repeat(255), 200],
    ['', 400],
    ['a b', 400],
    ['\u00e9', 400],
    ['~'.repeat(256), 400],
  ])('Idempotency-Key: %s gives %i', async (key, expected) => {
    const { status } = await deposit('{"amount":1}', { ...JSON_TYPE, 'idempotency-key': key });
    expect(status).toBe(expected);
    if (expected === 200) expect(app.executions.at(-1)?.configuration?.idempotencyKey).toBe(key);
  });

  it('passes a valid traceparent on and ignores a broken one', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await deposit('{"amount":1}', { ...JSON_TYPE, traceparent });
    const broken = ['broken', `${traceparent}-${'x'.repeat(15_000)}`, `cc${traceparent.slice(2)}-more`];
    for (const each of broken) await deposit('{"amount":1}', { ...JSON_TYPE, traceparent: each });
    expect(app.executions.map(({ configuration }) => configuration?.traceContext)).toEqual([
      traceparent,
      ...broken.map(() => undefined),
    ]);
  });
});

describe('failures', () => {
  it('of a shard are answered with 503 and when to try again, and logged', async () => {
    const cause = new Error('connect ECONNREFUSED 10.0.0.7:5432');
    app.behaviour = () => {
      throw new ShardUnavailableError('(1, 0)', 'db.internal refused', { cause, retryAfterMs: 1_500 });
    };
    const { status, headers, body } = await deposit('{"amount":1,"recipient":"secret"}');
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    expect(body).toMatchObject({ code: 'FW_SHARD_UNAVAILABLE', requestId: headers.get('x-request-id') });
    expect(app.log).toMatchObject([
      { level: 'warn', status: 503, method: 'POST', cause: { error: cause.message } },
    ]);
    expect(JSON.stringify(app.log)).not.toContain('secret');
  });

  it.each([
    ['no wallet', () => ({ nothing: true })],
    ['a balance that is no number', () => ({ ...app.wallets.get(wallet), balance: new Decimal('NaN') })],
    ['an owner that is no UUID', () => ({ ...app.wallets.get(wallet), ownerId: 'me' })],
    [
      'a field that refuses to be read',
      () => ({
        ...app.wallets.get(wallet),
        get state(): never {
          throw new RefusedError('No');
        },
      }),
    ],
  ])('of the answer itself are answered with 500, as the action has taken effect: %s', async (_, result) => {
    app.behaviour = result;
    const { status, body } = await deposit('{"amount":1}');
    expect([status, body['code']]).toEqual([500, 'HTTP_INTERNAL']);
    expect(app.log).toMatchObject([{ level: 'error', requestId: body['requestId'] }]);
  });
});

describe('callers', () => {
  it('are reported at start if all callers have the same one', () => {
    expect(loggedAtStart).toEqual([
      { level: 'warn', message: 'every caller is the principal "tester", because authentication is off' },
    ]);
  });
});
