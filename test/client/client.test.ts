import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CallError,
  type Client,
  call,
  date,
  type FetchInit,
  type FetchResponse,
  failedWith,
  follow,
  integer,
  itemsOf,
  list,
  type Reader,
  type Retry,
  type Route,
  read,
  record,
  type StreamedEvent,
  tuple,
  union,
  variant,
} from 'fw-actions/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { problemType } from '../../runtime/http/problem-kinds.js';
import { depositForSure, depositOrSay } from './tour.js';

/** A scripted answer of the service; an error is a lost connection. */
type Scripted = Error | 'never' | { status?: number; body?: unknown; headers?: Record<string, string> };

interface Sent extends FetchInit {
  readonly url: string;
}

/** A client of a service that gives these answers in order, and then repeats the last one. */
function clientOf(...answers: readonly Scripted[]): { client: Client; sent: Sent[]; retries: Retry[] } {
  const sent: Sent[] = [];
  const retries: Retry[] = [];
  const fetch = async (url: string, init: FetchInit): Promise<FetchResponse> => {
    const answer = answers[Math.min(sent.length, answers.length - 1)];
    sent.push({ url, ...init });
    const signal: AbortSignal = init.signal;
    if (answer === 'never')
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    if (answer instanceof Error) throw answer;
    const { status = 200, body = '', headers = {} } = answer ?? {};
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return new Response(status === 204 || status === 304 ? null : text, { status, headers });
  };
  const onRetry = (retry: Retry): void => void retries.push(retry);
  return { client: { baseUrl: 'http://service/', fetch, onRetry, timeoutMs: 10_000 }, sent, retries };
}

const problem = (status: number, code: string, headers: Record<string, string> = {}): Scripted => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: { type: problemType(code), title: 'X', status, code, detail: 'Told in words', shard: '(0, 0)' },
});
/** A page of a proxy, which may have replaced the answer of the service. */
const page = (status: number, headers: Record<string, string> = {}): Scripted => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: '<html>',
});
const LOST = new TypeError('fetch failed');
const OK: Scripted = { body: { version: 1 } };

const failure = async (calling: Promise<unknown>): Promise<CallError> => {
  const [outcome] = await Promise.allSettled([calling]);
  const error: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
  if (!(error instanceof CallError)) throw error;
  return error;
};

describe('A request of the client', () => {
  const { client, sent } = clientOf({ status: 204 });
  const url = async (method: string, path: string, params: object): Promise<string | undefined> => {
    await call(client, [method, path], params);
    return sent.at(-1)?.url;
  };

  test('has path params in the path, and the others in the query for GET and DELETE', async () => {
    const params = {
      id: 'a/b c',
      tags: ['x', 'y&z'],
      at: new Date(0),
      big: 2n ** 60n,
      sum: { toJSON: () => '1.50' },
      absent: undefined,
    };
    expect(await url('GET', '/things/{id}', params)).toBe(
      'http://service/things/a%2Fb%20c?tags=x&tags=y%26z&at=1970-01-01T00%3A00%3A00.000Z&big=1152921504606846976&sum=1.50',
    );
    expect(await url('DELETE', '/things/{id}', { id: '1' })).toBe('http://service/things/1');
    expect(sent.at(-1)).not.toHaveProperty('body');
  });

  test('has other params in the body for other methods, with dates, bigints and decimals as text', async () => {
    const sum = { toJSON: () => '1.50' };
    await call(client, ['PUT', '/{id}'], { id: '1', at: new Date(0), big: 5n, sum });
    expect(sent.at(-1)).toMatchObject({
      url: 'http://service/1',
      body: '{"at":"1970-01-01T00:00:00.000Z","big":"5","sum":"1.50"}',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
    });
  });

  test.each(['.', '..', ''])("refuses '%s' in a path, which would lead to another route", async (id) => {
    await expect(call(client, ['POST', '/a/{id}/b'], { id })).rejects.toThrow('cannot be the id');
  });

  test('calls the client’s headers function before each attempt, and fails with its error', async () => {
    const { client: other, sent: requests } = clientOf(LOST, OK);
    let token = 0;
    const headers = async (): Promise<Record<string, string>> => {
      token += 1;
      return { authorization: `Bearer ${token}` };
    };
    await call({ ...other, headers }, ['GET', '/'], {});
    expect(requests.map((each) => each.headers['authorization'])).toEqual(['Bearer 1', 'Bearer 2']);
    const failing = { ...other, headers: () => Promise.reject(new RangeError('no token')) };
    await expect(call(failing, ['GET', '/'], {})).rejects.toThrow(RangeError);
  });

  test('does not wait for headers beyond the time of the attempt, or after its signal is aborted', async () => {
    const silent = { ...client, headers: () => new Promise<never>(() => {}), timeoutMs: 20 };
    const before = sent.length;
    expect((await failure(call(silent, ['GET', '/'], {}))).code).toBe('CLIENT_NO_ANSWER');
    const leaving = new AbortController();
    const calling = call({ ...silent, timeoutMs: 60_000 }, ['GET', '/'], {}, { signal: leaving.signal });
    leaving.abort('left');
    await expect(calling).rejects.toBe('left');
    expect(sent.length).toBe(before);
  });

  test.each([
    ['answers', () => new Promise<never>(() => {})],
    ['sends its body', async () => new Response(new ReadableStream())],
    ['sends the body of a refusal', async () => new Response(new ReadableStream(), { status: 400 })],
    [
      'sends an event',
      async () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    ],
  ])(
    'ends in time with a fetch that ignores its signal and never %s',
    { timeout: 5_000 },
    async (_, fetch) => {
      const deaf: Client = { baseUrl: 'http://service', fetch: fetch as () => Promise<FetchResponse> };
      const calling = call({ ...deaf, timeoutMs: 20 }, ['GET', '/'], {});
      expect((await failure(calling)).code).toBe('CLIENT_NO_ANSWER');
      const following = follow(deaf, '/', {}, { signal: AbortSignal.timeout(20) }).next();
      await expect(following).rejects.toMatchObject({ name: 'TimeoutError' });
    },
  );

  test('may have any time', async () => {
    const patient = { ...clientOf(OK).client, attemptTimeoutMs: Infinity, timeoutMs: Infinity };
    const fetch = async (url: string, init: FetchInit): Promise<FetchResponse> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect((init.signal as AbortSignal).aborted).toBe(false);
      return patient.fetch?.(url, init) as Promise<FetchResponse>;
    };
    await call({ ...patient, fetch }, ['GET', '/'], {});
  });
});

describe('An answer is read', () => {
  const nested: Reader = { at: date, more: list((value) => read(nested, value)) };

  test.each<[string, Reader, unknown, unknown]>([
    ['a list', list(date), ['1970-01-01T00:00:00Z'], [new Date(0)]],
    ['a record', record(integer), { a: '5' }, { a: 5n }],
    [
      'a tuple',
      tuple([undefined, integer], date),
      ['1', '2', '1970-01-01T00:00:00Z'],
      ['1', 2n, new Date(0)],
    ],
    ['a union', union({ string: integer, array: list(integer) }), ['1'], [1n]],
    ['a union of others', union({ string: integer }), 5, 5],
    ['a variant', variant('kind', { a: { n: integer } }), { kind: 'a', n: '1' }, { kind: 'a', n: 1n }],
    ['another variant', variant('kind', { a: { n: integer } }), { kind: 'b', n: '1' }, { kind: 'b', n: '1' }],
    ['null', { at: date }, { at: null, other: 1 }, { at: null, other: 1 }],
    ['an absent field', { at: date }, { other: 1 }, { other: 1 }],
    [
      'a type within itself',
      nested,
      { at: null, more: [{ at: '1970-01-01T00:00:00Z', more: [] }] },
      { at: null, more: [{ at: new Date(0), more: [] }] },
    ],
  ])('%s', (_, reader, json, value) => {
    expect(read(reader, json)).toEqual(value);
  });

  test('a version that the caller knows is not sent again', async () => {
    const known = { version: 3 };
    const { client, sent } = clientOf({ status: 304 });
    expect(await call(client, ['GET', '/', undefined, 200, ['version'], 'version'], {}, { known })).toBe(
      known,
    );
    expect(sent[0]?.headers['if-none-match']).toBe('"3"');
  });
});

describe('A failed attempt', () => {
  test.each([
    ['a lost connection', LOST],
    ['503', problem(503, 'FW_SHARD_BUSY')],
    ['504', problem(504, 'FW_COMMIT_OUTCOME_UNKNOWN')],
    ['429', problem(429, 'FW_TOO_MANY_REQUESTS')],
    ['502 of a proxy', { status: 502, body: '<html>' } as const],
    ['the same key still running', problem(409, 'FW_KEY_BUSY')],
    ['other writers that were faster', problem(409, 'FW_STALE_MODEL')],
  ])('by %s is repeated under the same key', async (_, first) => {
    const { client, sent, retries } = clientOf(first, first, OK);
    expect(await call(client, ['POST', '/'], { a: 1 })).toEqual({ version: 1 });
    const keys = sent.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test.each([
    ['FW_REFUSED', 409],
    ['FW_VALIDATION', 400],
    ['FW_UNAUTHENTICATED', 401],
    ['HTTP_INTERNAL', 500],
  ])('by %s is the end', async (code, status) => {
    const { client, sent } = clientOf(problem(status, code));
    const error = await failure(call(client, ['POST', '/'], {}));
    expect(error).toMatchObject({ code, status, message: 'Told in words', problem: { title: 'X' } });
    expect(sent).toHaveLength(1);
    if (failedWith(error, 'FW_SHARD_BUSY', 'FW_REFUSED') && error.code === 'FW_SHARD_BUSY') throw error;
  });

  test('waits as long as Retry-After says', async () => {
    const { client, retries } = clientOf(problem(503, 'HTTP_BUSY', { 'retry-after': '1' }), OK);
    const startedMs = performance.now();
    await call(client, ['GET', '/'], {});
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(990);
    expect(retries[0]?.delayMs).toBeGreaterThanOrEqual(1_000);
  });

  test('is the last one if Retry-After goes beyond the deadline', async () => {
    const { client, sent } = clientOf(problem(503, 'HTTP_BUSY', { 'retry-after': '15' }));
    const error = await failure(call(client, ['GET', '/'], {}));
    expect([error.code, error.retryAfterMs, sent.length]).toEqual(['HTTP_BUSY', 15_000, 1]);
  });

  test('ends at its time limit, as does the call at its own', async () => {
    const { client } = clientOf('never');
    const error = await failure(
      call({ ...client, attemptTimeoutMs: 20 }, ['GET', '/'], {}, { timeoutMs: 500 }),
    );
    expect(error).toMatchObject({ code: 'CLIENT_NO_ANSWER', status: 0, idempotencyKey: undefined });
  });

  test('is not repeated if its URL or a header is not valid, and did not take effect', async () => {
    for (const [client, options] of [
      [{ baseUrl: 'http://local host' }, {}],
      [{ baseUrl: 'http://service' }, { idempotencyKey: 'order\u2013one' }],
      [{ baseUrl: 'http://service', headers: { authorization: 'a\nb' } }, {}],
    ] as const)
      await expect(call(client, ['POST', '/'], {}, options)).rejects.toBeInstanceOf(TypeError);
  });

  test('is not repeated after the signal is aborted', async () => {
    const { client, sent } = clientOf('never');
    const controller = new AbortController();
    const calling = call(client, ['POST', '/'], {}, { signal: controller.signal });
    controller.abort(new Error('Enough'));
    await expect(calling).rejects.toThrow('Enough');
    const { client: busy } = clientOf(problem(503, 'HTTP_BUSY', { 'retry-after': '5' }));
    const pausing = new AbortController();
    const onRetry = (): void => pausing.abort(new Error('Enough'));
    await expect(call({ ...busy, onRetry }, ['GET', '/'], {}, { signal: pausing.signal })).rejects.toThrow(
      'Enough',
    );
    expect(sent).toHaveLength(1);
  });
});

describe('Whether a failed write may have taken effect', () => {
  const later = { 'retry-after': '60' };
  const busy = problem(503, 'FW_SHARD_BUSY', later);
  const refused = { ...(problem(409, 'FW_REFUSED') as object) };
  const foreignProblem: Scripted = { ...refused, body: { type: 'about:blank', status: 409, code: 'X' } };

  test.each<[string, readonly Scripted[], boolean]>([
    ['not after a refusal', [problem(409, 'FW_REFUSED')], false],
    ['not after a shard that was down', [problem(503, 'FW_SHARD_UNAVAILABLE', later)], false],
    ['not if a refusal follows a lost connection', [LOST, problem(409, 'FW_REFUSED')], false],
    ['if a lost connection is all there was', [LOST, problem(401, 'FW_UNAUTHENTICATED')], true],
    ['if a process of another release refuses the input then', [LOST, problem(400, 'FW_VALIDATION')], true],
    ['if another topology refuses the shard then', [LOST, problem(404, 'FW_UNKNOWN_SHARD')], true],
    ['if another release reads the input in another way then', [LOST, problem(422, 'FW_KEY_REUSED')], true],
    ['if the shard is down by then', [LOST, busy], true],
    ['if it still runs', [problem(409, 'FW_KEY_BUSY'), problem(500, 'HTTP_INTERNAL')], true],
    ['if a proxy answered with a page', [page(200)], true],
    ['if a firewall replaced its answer', [page(403)], true],
    ['if a proxy was reset while it waited', [page(503, later)], true],
    ['if a gateway has a conflict of its own', [{ status: 409, body: { code: 'FW_REFUSED' } }], true],
    ['if a gateway has problems of its own', [foreignProblem], true],
    ['if a proxy changed the status of its problem', [{ ...refused, status: 400 }], true],
    ['if a proxy redirected it', [{ status: 303, headers: { location: '/' } }], true],
  ])('%s', async (_, answers, expected) => {
    const { client, sent } = clientOf(...answers);
    const error = await failure(call(client, ['POST', '/'], {}));
    expect([error.mayHaveTakenEffect, error.idempotencyKey]).toEqual([
      expected,
      sent[0]?.headers['idempotency-key'],
    ]);
  });

  test.each<[string, Scripted, boolean]>([
    ['if the shard is down', busy, true],
    ['if the input is refused', problem(400, 'FW_VALIDATION'), true],
    ['if the same key still runs', problem(409, 'FW_KEY_BUSY', later), true],
    ['if it was used with other input', problem(422, 'FW_KEY_REUSED'), true],
    ['not after a refusal', problem(409, 'FW_REFUSED'), false],
    ['not if the model does not exist', problem(404, 'FW_MODEL_NOT_FOUND'), false],
  ])('by an earlier call under a key of the caller: %s', async (_, answer, expected) => {
    const { client } = clientOf(answer);
    const error = await failure(call(client, ['POST', '/'], {}, { idempotencyKey: 'mine' }));
    expect([error.mayHaveTakenEffect, error.idempotencyKey]).toEqual([expected, 'mine']);
  });
});

describe('An answer that is not what the route declares', () => {
  const json = (text: string, status = 200): Scripted => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: text,
  });
  const declared: Route = ['POST', '/', { items: list(integer) }, 200, ['version', 'items']];

  test.each<[string, Scripted]>([
    ['another status', json('{"version":1,"items":[]}', 202)],
    ['304 without a known response', { status: 304 }],
    ['204', { status: 204 }],
    ['an empty body', json('')],
    ['null', json('null')],
    ['a list', json('[]')],
    ['a number', json('1')],
    ['an object of others', json('{"status":"ok"}')],
    ['an empty object', json('{}')],
    ['a field that cannot be read', json('{"version":1,"items":{}}')],
  ])('such as %s, is not a success', async (_, answer) => {
    const { client, sent } = clientOf(answer);
    expect(await failure(call(client, declared, {}))).toMatchObject({
      code: 'CLIENT_FOREIGN_ANSWER',
      mayHaveTakenEffect: true,
    });
    expect(sent).toHaveLength(1);
    const read = await failure(call(client, ['GET', ...(declared.slice(1) as [string])], {}));
    expect(read).toMatchObject({ code: 'CLIENT_FOREIGN_ANSWER', mayHaveTakenEffect: false });
  });

  test('is any body and any other status where the route has no response', async () => {
    const empty: Route = ['DELETE', '/', undefined, 204];
    await expect(call(clientOf({ status: 204 }).client, empty, {})).resolves.toBeUndefined();
    const withStatus: Route = ['DELETE', '/', undefined, 200];
    await expect(call(clientOf(json('')).client, withStatus, {})).resolves.toBeUndefined();
    for (const route of [empty, withStatus])
      expect((await failure(call(clientOf(json('{}')).client, route, {}))).code).toBe(
        'CLIENT_FOREIGN_ANSWER',
      );
  });

  test('is an object with further fields, or without new ones, of another release', async () => {
    const { client } = clientOf(json(' {"version":1,"items":["5"],"later":2}'));
    await expect(call(client, declared, {})).resolves.toEqual({ version: 1, items: [5n], later: 2 });
    await expect(call(clientOf(json('{"version":1}')).client, declared, {})).resolves.toEqual({ version: 1 });
    const optional: Route = ['POST', '/', undefined, 200, []];
    await expect(call(clientOf(json('{}')).client, optional, {})).resolves.toEqual({});
    expect((await failure(call(clientOf(json('[]')).client, optional, {}))).status).toBe(200);
  });
});

test.each(['GET', 'POST'])('A redirect of a %s is not followed', async (method) => {
  const requested: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    requested.push(url);
    if (url === '/moved') response.end('{"version":1}');
    else response.writeHead(302, { location: '/moved' }).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  expect(await failure(call(client, [method, '/'], {}))).toMatchObject({
    code: 'CLIENT_FOREIGN_ANSWER',
    status: 302,
  });
  expect(requested).toEqual(['/']);
});

test('A redirect that a browser hides is not repeated', async () => {
  const { client } = clientOf();
  let requests = 0;
  const fetch = async (): Promise<FetchResponse> => {
    requests += 1;
    return { status: 0, headers: new Headers(), body: null, text: async () => '' };
  };
  expect((await failure(call({ ...client, fetch }, ['GET', '/'], {}))).code).toBe('CLIENT_FOREIGN_ANSWER');
  expect(requests).toBe(1);
});

test('Items of a list are read page after page', async () => {
  const { client, sent } = clientOf(
    { body: { items: [1, 2], next: 'b' } },
    { body: { items: [3], next: null } },
  );
  const found: unknown[] = [];
  const load = (params: object): Promise<{ items: readonly unknown[]; next: string | null }> =>
    call(client, ['GET', '/'], params);
  for await (const item of itemsOf<{ limit: number; cursor?: string }, unknown>({ limit: 2 }, load))
    found.push(item);
  expect(found).toEqual([1, 2, 3]);
  expect(sent.map(({ url }) => url)).toEqual(['http://service/?limit=2', 'http://service/?limit=2&cursor=b']);
});

describe('A stream', () => {
  const headers = { 'content-type': 'text/event-stream' };
  const frame = (id: string, modelVersion: number): string =>
    `id: ${modelVersion}\nevent: E\ndata: ${JSON.stringify({ id, modelVersion, createdDate: '1970-01-01T00:00:00Z' })}\n\n`;

  test('reconnects behind the last event, and returns each event of a change once', async () => {
    const { client, sent, retries } = clientOf(
      { headers, body: `retry: 1\n\n:\n\n${frame('a', 1)}${frame('b', 2)}id: 2` },
      problem(503, 'HTTP_BUSY'),
      { headers, body: `${frame('b', 2)}${frame('c', 2)}` },
      { headers, body: frame('d', 3) },
    );
    const found: string[] = [];
    for await (const { id, createdDate } of follow<StreamedEvent<string, unknown>>(client, '/{id}', {
      id: 1,
    })) {
      expect(createdDate).toEqual(new Date(0));
      if (found.push(id) === 4) break;
    }
    expect(found).toEqual(['a', 'b', 'c', 'd']);
    expect(sent.map(({ headers }) => headers['last-event-id'])).toEqual(['0', '1', '1', '1']);
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
  });

  test('ends with the error of the client’s headers, and not with that of a lost connection', async () => {
    const { client, sent } = clientOf({ headers, body: frame('a', 1) });
    const ask = [{ authorization: 'Bearer a' }, new Error('session over')];
    const headersOf = async () => {
      const next = ask.shift();
      if (next instanceof Error) throw next;
      return { authorization: String(next?.authorization) };
    };
    const events = follow({ ...client, headers: headersOf }, '/', {});
    expect((await events.next()).value).toMatchObject({ id: 'a' });
    await expect(events.next()).rejects.toThrow('session over');
    expect(sent).toHaveLength(1);
  });

  test.each([
    ['with the refusal of the service', problem(403, 'FW_FORBIDDEN'), 'FW_FORBIDDEN'],
    ['if a proxy answers with a page', { body: '<html>' } as const, 'CLIENT_FOREIGN_ANSWER'],
  ])('ends %s', async (_, answer, code) => {
    const error = await failure(follow(clientOf(answer).client, '/', {}).next());
    expect(error.code).toBe(code);
  });

  test('that is silent reconnects', async () => {
    const { client } = clientOf('never', { headers, body: frame('a', 6) });
    const { value } = await follow(client, '/', {}, { silenceMs: 20, after: 5 }).next();
    expect(value).toMatchObject({ id: 'a' });
  });
});

describe('The examples of docs/client.md', () => {
  test('tell an unknown outcome from a refusal', async () => {
    const lost = { ...clientOf(LOST).client, timeoutMs: 50 };
    await expect(depositForSure(lost, 'w', 'key-1')).resolves.toBe('ask again later');
    const { client: refused } = clientOf(problem(409, 'FW_REFUSED'));
    await expect(depositForSure(refused, 'w', 'key-1')).rejects.toMatchObject({ code: 'FW_REFUSED' });
    await expect(depositOrSay(refused, 'w', '1')).resolves.toBe('Told in words');
  });

  test('do not take errors of others for errors of calls', () => {
    expect(failedWith(new TypeError('x'))).toBe(false);
  });
});
