import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ValidationError } from '../errors.js';
import type { HttpServer } from './http-server.js';
import { WalletApplication } from './test-support/wallet-server.js';

const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const app = new WalletApplication();
let server: HttpServer;
let base = '';
let wallet = '';

beforeAll(async () => {
  server = app.server();
  base = (await server.listen({ host: '127.0.0.1', port: 0 })).url;
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
