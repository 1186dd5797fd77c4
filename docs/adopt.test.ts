import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Application, currency, Decimal, openApplication, type Principal } from 'fw-actions';
import { type FwConfig, parseConfig } from 'fw-actions/config';
import { problemOf, readParams } from 'fw-actions/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WalletCreateAction } from '../examples/wallet/actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from '../examples/wallet/actions/wallet-deposit-money-action.js';
import { application } from '../examples/wallet/generated/application.js';
import { WalletResponse } from '../examples/wallet/responses/wallet-response.js';
import { ONE_SHARD } from '../runtime/config/test-support/configs.js';

/** The sample of docs/adopt.md. */
async function addWallets(server: FastifyInstance, config: FwConfig): Promise<Application> {
  const app = await openApplication(application, { ...config, collaborators: {} });
  // Runs when the requests in progress have ended.
  server.addHook('onClose', () => app.close());
  await server.register(async (routes) => {
    routes.setErrorHandler((error, _request, reply) => {
      const { status, headers, body } = problemOf(error);
      // The service's own handler answers its own errors, and unexpected ones.
      if (body.code === 'HTTP_INTERNAL') throw error;
      return reply.code(status).headers(headers).type('application/problem+json').send(body);
    });
    routes.post('/wallets/:walletId/deposit', async (request) => {
      const json = { ...(request.body as object), ...(request.params as object) };
      const params = readParams(app.registry, WalletDepositMoneyAction, json);
      const wallet = await app.executor.execute(callerOf(request), WalletDepositMoneyAction, params);
      return WalletResponse.from(wallet);
    });
  });
  return app;
}

/** Stands for the service's own authentication. */
function callerOf({ headers }: FastifyRequest): Principal {
  if (headers.authorization === undefined)
    throw Object.assign(new Error('Log in first'), { statusCode: 401 });
  return { name: 'ada', claims: { role: 'operator' } };
}

const CONFIG = ONE_SHARD.replace(/jdbc-url: .*/s, 'jdbc-url: jdbc:pglite:mem:adopted\n').replace(
  '  sharding:',
  '  execution: { timeout-ms: 30000 }\n  sharding:',
);
const server = Fastify();
let app: Application;
let id: string;

beforeAll(async () => {
  server.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ slug: 'own' }),
  );
  app = await addWallets(server, parseConfig(CONFIG, { file: 'fw.config.yaml', env: {} }));
  const principal = { name: 'ada', claims: { role: 'operator' } } as const;
  const params = {
    country: 'FR',
    ownerId: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10',
    currency: currency('EUR'),
  };
  const wallet = await app.executor.execute(principal, WalletCreateAction, params);
  id = wallet.id.getValue();
}, 120_000);

afterAll(() => server.close());

async function deposit(walletId: string, payload: object, authorization?: string) {
  const headers = authorization === undefined ? {} : { authorization };
  const url = `/wallets/${walletId}/deposit`;
  const response = await server.inject({ method: 'POST', url, headers, payload });
  return { status: response.statusCode, type: response.headers['content-type'], body: response.json() };
}

test.each([['50.25'], [50.25]])(
  'a route of the service runs an action with params of JSON: %j',
  async (amount) => {
    const before = new Decimal((await deposit(id, { amount: '0.01' }, 'token')).body.balance);
    const answer = await deposit(id, { amount, recipient: 'bob' }, 'token');
    expect(answer).toMatchObject({ status: 200, body: { id, balance: before.plus('50.25').toString() } });
  },
);

test('it answers refusals with their status, and leaves other errors to the handler of the service', async () => {
  const unknown = id.slice(0, -2) + (id.endsWith('00') ? '11' : '00');
  const answers = [
    await deposit(id, { amount: 'abc', much: 1 }, 'token'),
    await deposit('x', {}, 'token'),
    await deposit(id, { amount: '-1' }, 'token'),
    await deposit(unknown, { amount: '1' }, 'token'),
    await deposit(id, { amount: '1' }),
  ];
  const problem = 'application/problem+json';
  expect(answers.map(({ status, body }) => [status, body.code ?? body.slug])).toEqual([
    [400, 'FW_VALIDATION'],
    [400, 'FW_VALIDATION'],
    [400, 'FW_VALIDATION'],
    [404, 'FW_MODEL_NOT_FOUND'],
    [401, 'own'],
  ]);
  expect(answers.slice(0, 4).every(({ type }) => String(type).startsWith(problem))).toBe(true);
  const pointers = (index: number): readonly string[] =>
    answers[index]?.body.errors.map(({ pointer }: { readonly pointer: string }) => pointer);
  expect([pointers(0), pointers(1)]).toEqual([
    ['/much', '/amount'],
    ['/walletId', '/amount'],
  ]);
});

test.each([[undefined], [null], [5], ['text'], [[]], [JSON.parse('{"__proto__":{}}')]])(
  'params are refused if they are %j',
  (json) => {
    const read = (): unknown => readParams(app.registry, WalletDepositMoneyAction, json);
    expect(read).toThrow(expect.objectContaining({ message: expect.stringMatching(/./) }));
    try {
      read();
    } catch (error) {
      expect(problemOf(error).status).toBe(400);
    }
  },
);

test('params are copied, not converted in place', () => {
  const json = { walletId: id, amount: '1' };
  expect(readParams(app.registry, WalletDepositMoneyAction, json).amount).toEqual(new Decimal(1));
  expect(json).toEqual({ walletId: id, amount: '1' });
});

test('requests in progress are answered while the service stops', async () => {
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const arrived = new Promise((resolve) => server.server.once('request', resolve));
  const headers = { authorization: 'token', 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{"amount":"1"}' };
  const answer = fetch(`${url}/wallets/${id}/deposit`, init);
  await arrived;
  await server.close();
  expect((await answer).status).toBe(200);
  const principal = { name: 'ada', claims: { role: 'operator' } } as const;
  const params = readParams(app.registry, WalletDepositMoneyAction, { walletId: id, amount: '1' });
  const late = app.executor.execute(principal, WalletDepositMoneyAction, params);
  await expect(late).rejects.toMatchObject({ code: 'FW_CLOSED' });
});
