import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Principal } from '../domain/principal.js';
import { ApplicationError, FwError, ValidationError } from '../errors.js';
import type { HttpServer } from './http-server.js';
import { sendRaw } from './test-support/raw-client.js';
import { WalletApplication } from './test-support/wallet-server.js';

const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
/** The server closes these connections itself. */
const SOON_MS = 8_000;
const app = new WalletApplication();
let server: HttpServer;
let base = '';
let port = 0;
let wallet = '';

beforeAll(async () => {
  server = app.server({ problems: { QUOTA_EXCEEDED: { status: 429, title: 'Quota exceeded' } } });
  ({ url: base, port } = await server.listen({ host: '127.0.0.1', port: 0 }));
});
beforeEach(() => {
  app.reset();
  wallet = app.open();
});
afterAll(() => server.close(0));

describe('what an action refuses', () => {
  const problemsOf = async (path: string, init?: RequestInit): Promise<unknown> => {
    const response = await fetch(base + path, init);
    expect(response.status).toBe(400);
    return ((await response.json()) as { readonly errors?: unknown }).errors;
  };

  it('is pointed at in the query', async () => {
    expect(await problemsOf(`/wallets?ownerId=${OWNER}&cursor=foreign`)).toEqual([
      { in: 'query', pointer: '/cursor', message: 'cursor is of another list' },
    ]);
  });

  it.each([
    ['amount', [{ pointer: '/amount', message: 'No' }]],
    ['walletId', [{ in: 'path', pointer: '/walletId', message: 'No' }]],
    ['balance', undefined],
  ])('is pointed at where the request has it: %s', async (field, expected) => {
    app.behaviour = () => {
      throw new ValidationError('No', { field });
    };
    const init = { method: 'POST', body: '{"amount":1}', headers: { 'content-type': 'application/json' } };
    expect(await problemsOf(`/wallets/${wallet}/deposit`, init)).toEqual(expected);
  });
});

describe('whatever an action throws is answered', () => {
  class QuotaError extends ApplicationError {
    readonly code: string = 'QUOTA_EXCEEDED';
  }
  class UnlistedError extends QuotaError {
    override readonly code = 'UNLISTED';
  }
  class ForbiddenError extends FwError {
    readonly code = 'FW_OF_ITS_OWN' as never;
  }
  const answerTo = (thrown: unknown): Promise<Response> => {
    app.behaviour = () => {
      throw thrown;
    };
    const init = { method: 'POST', body: '{"amount":1}', headers: { 'content-type': 'application/json' } };
    return fetch(`${base}/wallets/${wallet}/deposit`, init);
  };
  const depositOf = async (thrown: unknown): Promise<Record<string, unknown>> => {
    const response = await answerTo(thrown);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    return (await response.json()) as Record<string, unknown>;
  };

  it('an error of the application, with the status and title that are registered', async () => {
    expect(await depositOf(new QuotaError('Ten deposits a day'))).toEqual({
      type: 'urn:fw-actions:problem:quota-exceeded',
      title: 'Quota exceeded',
      status: 429,
      detail: 'Ten deposits a day',
      instance: `/wallets/${wallet}/deposit`,
      code: 'QUOTA_EXCEEDED',
      requestId: expect.any(String),
    });
  });

  it.each([
    [{}, '1'],
    [{ retryAfterMs: 3_600_000 }, '3600'],
  ])('an error of the application with status 429, with the time to wait: %j', async (facts, seconds) => {
    const { headers } = await answerTo(Object.assign(new QuotaError('Ten deposits a day'), facts));
    expect(headers.get('retry-after')).toBe(seconds);
  });

  it('an error of the application that is not registered, as a refusal', async () => {
    const problem = { status: 409, title: 'Refused', code: 'UNLISTED', detail: 'No' };
    expect(await depositOf(new UnlistedError('No'))).toMatchObject(problem);
  });

  it.each([
    ['an error of the framework with a code of its own', new ForbiddenError('secret')],
    ['a text', 'secret'],
    ['nothing', undefined],
    ['null', null],
    ['an object without a prototype', Object.create(null)],
    [
      'a proxy that throws when it is read',
      new Proxy(new Error('secret'), {
        get: () => {
          throw new Error('secret');
        },
        getPrototypeOf: () => {
          throw new Error('secret');
        },
      }),
    ],
  ])('%s, as an internal error', async (_what, thrown) => {
    const body = await depositOf(thrown);
    expect(body).toMatchObject({ status: 500, code: 'HTTP_INTERNAL' });
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(app.log).toMatchObject([{ level: 'error', requestId: body['requestId'] }]);
  });

  it.each(['FW_OWN', 'HTTP_OWN', 'lower', ''])('the code %j cannot be registered', (code) => {
    const problems = { [code]: { status: 409, title: 'No' } };
    expect(() => app.server({ problems })).toThrow(ValidationError);
  });

  it.each([200, 399, 600, 400.5])('the status %d cannot be registered', (status) => {
    expect(() => app.server({ problems: { OWN: { status, title: 'No' } } })).toThrow(ValidationError);
  });
});

it.each([{ name: '' }, () => '', {} as Principal])(
  'a principal without a name is a fault of the server, not of its caller',
  async (principal) => {
    const nameless = app.server({ authenticator: () => principal });
    const { url } = await nameless.listen({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => nameless.close(0));
    const response = await fetch(`${url}/wallets/${wallet}`);
    expect(response.status).toBe(500);
    expect(app.log.map(({ error }) => error)).toContain(
      'The authenticator returned a principal without a name',
    );
  },
);

describe.each(['GET', 'DELETE', 'POST'])('a body of %s', (method) => {
  const answered = async (headers: string, body = ''): Promise<readonly unknown[]> => {
    const path = method === 'POST' ? `/wallets/${wallet}/close` : `/wallets/${wallet}`;
    const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}`;
    const { status, text } = await sendRaw(port, `${head}\r\n${body}`, SOON_MS);
    return [status, /"code":"([A-Z_]+)"/.exec(text)?.[1]];
  };
  const withBody = (body: string, type = 'application/json'): Promise<readonly unknown[]> =>
    answered(`Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`, body);

  it('is refused where the route takes none', async () => {
    expect(await withBody('{"amount":1}')).toEqual([400, 'FW_VALIDATION']);
    expect(await withBody('{"amount"')).toEqual([400, 'HTTP_MALFORMED_BODY']);
    expect(await withBody('[]')).toEqual([400, 'FW_VALIDATION']);
    expect(await withBody('{}', 'text/plain')).toEqual([415, 'HTTP_UNSUPPORTED_MEDIA_TYPE']);
    expect(await answered('Transfer-Encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n')).toEqual([
      415,
      'HTTP_UNSUPPORTED_MEDIA_TYPE',
    ]);
  });

  it.each(['', 'Content-Length: 0\r\n', 'Content-Type: application/json\r\n'])(
    'may be absent: %j',
    async (headers) => expect((await answered(headers))[0]).toBeLessThan(300),
  );

  it('may be an empty object', async () => expect((await withBody('{}'))[0]).toBeLessThan(300));
});
