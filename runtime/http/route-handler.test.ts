import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ValidationError } from '../errors.js';
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
  server = app.server();
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
