/** The same endpoint without the framework: Fastify and node-postgres by hand. */
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import pg from 'pg';
import { Stale } from '../lib/load.js';
import { deposit } from '../peers/node-postgres.js';
import { POOL_SIZE } from '../peers/rows.js';

const { connection, withAction, underPressure = false } = JSON.parse(process.argv[2]);
const pool = new pg.Pool({ ...connection, max: POOL_SIZE });
pool.on('error', () => {});

/** @typedef {import('fastify').FastifyRequest<{ Params: { id: string }, Body: { amount: string } }>} DepositRequest */

const ATTEMPTS = 4;

const schema = {
  params: {
    type: 'object',
    properties: { id: { type: 'string', format: 'uuid' } },
    required: ['id'],
  },
  body: {
    type: 'object',
    properties: {
      amount: { type: 'string', pattern: '^\\d{1,15}(\\.\\d{1,4})?$' },
      recipient: { type: 'string', maxLength: 256 },
    },
    required: ['amount'],
    additionalProperties: false,
  },
  response: {
    200: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        ownerId: { type: 'string' },
        currency: { type: 'string' },
        balance: { type: 'string' },
        state: { type: 'string' },
        version: { type: 'integer' },
        createdDate: { type: 'string', format: 'date-time' },
        updatedDate: { type: 'string', format: 'date-time' },
      },
    },
  },
};

const app = Fastify({ logger: false });
if (underPressure) {
  const { default: plugin } = await import('@fastify/under-pressure');
  // As its documentation suggests.
  await app.register(plugin, { maxEventLoopDelay: 1_000, maxEventLoopUtilization: 0.98, retryAfter: 1 });
}

app.post('/wallets/:id/deposit', { schema }, async (/** @type {DepositRequest} */ request, reply) => {
  const wallet = await depositWithRetries(request.params.id, request.body.amount);
  reply.header('etag', `"${wallet.version}"`);
  return {
    id: wallet.id,
    ownerId: wallet.owner_id,
    currency: wallet.currency,
    balance: wallet.balance,
    state: wallet.state,
    version: wallet.version,
    createdDate: wallet.created_date,
    updatedDate: wallet.updated_date,
  };
});

async function depositWithRetries(walletId, amount) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await deposit(pool, { walletId, amount, withAction });
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      if (attempt === ATTEMPTS) throw Object.assign(new Error('Conflict'), { statusCode: 409 });
      await delay(Math.random() * 8 * 2 ** attempt);
    }
  }
}

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`listening on ${url}\n`);
process.on('SIGTERM', async () => {
  await app.close();
  await pool.end();
});
