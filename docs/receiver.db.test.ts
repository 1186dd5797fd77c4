import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { EventSchemas, Inbox, readMessage, verifyWebhook } from 'fw-actions/consumer';
import { problemOf } from 'fw-actions/http';
import { type Kysely, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { consumerDatabase } from '../runtime/consumer/test-support/consumer-database.js';
import { HERE } from '../runtime/execution/test-support/accounts.js';
import type { PublishOutcome } from '../runtime/relay/relay-sink.js';
import { webhookSink } from '../runtime/relay/sinks/webhook/webhook-sink.js';
import { describeOn } from '../test/databases/vitest.js';
import { ROOT } from './pages.js';

interface Tables {
  readonly payments: { readonly wallet: string; readonly amount: string };
}

/** The sample of docs/integration.md. */
function receive(server: FastifyInstance, database: Kysely<Tables>, secret: string, lock: string): void {
  const schemas = EventSchemas.fromLock(lock);
  const inbox = new Inbox({ database });
  server.register(async (hooks) => {
    // The signature covers the bytes as they were sent.
    hooks.removeAllContentTypeParsers();
    hooks.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    // With 500 for a message that it cannot read, the receiver would count as down.
    hooks.setErrorHandler((error, request, reply) => {
      const { status, headers } = problemOf(error);
      if (status === 500) throw error;
      request.log.warn(error);
      return reply.code(status).headers(headers).send();
    });
    hooks.post('/hooks/wallet', async (request, reply) => {
      const body = request.body as Buffer;
      verifyWebhook(request.headers, body, { secrets: [secret] });
      const event = schemas.check(readMessage({ headers: request.headers, body }));
      await inbox.once(event, async (transaction) => {
        const payment = { wallet: event.subject ?? '', amount: String(event.data['amount']) };
        await transaction.insertInto('payments').values(payment).execute();
      });
      return reply.code(204).send();
    });
  });
}

const LOCK = join(ROOT, 'examples/wallet/migrations/events.lock');
const SECRET = Buffer.alloc(32, 1).toString('base64');
const OTHER_SECRET = Buffer.alloc(32, 2).toString('base64');

describeOn('postgresql', 'The receiver of docs/integration.md', (harness) => {
  async function world() {
    const databases = await harness.makeShards({ shards: [HERE], migrations: [], role: 'owner' });
    const database = consumerDatabase<Tables>(databases);
    await new Inbox({ database }).createTable();
    await sql`create table payments (wallet text not null, amount numeric not null)`.execute(database);
    return database;
  }

  async function senderTo(
    database: Kysely<Tables>,
    secret: string = SECRET,
  ): Promise<(id: string, body: object | string) => Promise<PublishOutcome | undefined>> {
    const server = Fastify();
    receive(server, database, secret, LOCK);
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => server.close());
    const sink = webhookSink({ url: `${url}/hooks/wallet`, secret: SECRET });
    return async (id, body) => {
      const text = typeof body === 'string' ? body : JSON.stringify({ ...EVENT, id, ...body });
      const message = {
        id,
        key: id,
        modelName: 'Wallet',
        eventType: 'WalletMoneyDepositedEvent',
        body: text,
      };
      const contentType = 'application/cloudevents+json';
      const signal = new AbortController().signal;
      return (await sink.publish([{ ...message, contentType, attributes: {} }], signal))[0];
    };
  }

  const EVENT = {
    specversion: '1.0',
    source: '/example.wallet/shards/0-0',
    type: 'example.wallet.WalletMoneyDepositedEvent',
    subject: '01890a5d-ac96-7d4c-8040-c2b7a4f8a003',
    data: { amount: '5', newBalance: '105' },
  };
  const rejected = { kind: 'rejected', reason: 'the receiver answered 400' };

  test('rejects a message that it cannot read, so that the sink goes on with other models', async () => {
    const send = await senderTo(await world());
    expect(await send('e1', {})).toEqual({ kind: 'accepted' });
    expect(await send('e2', { eventversion: '2' })).toEqual(rejected);
    expect(await send('e3', { data: { amount: 5 } })).toEqual(rejected);
    expect(await send('e4', '{')).toEqual(rejected);
    expect(await send('e5', { id: 'a\0b' })).toEqual(rejected);
  });

  test('defers messages while its secret is another one, or is none', async () => {
    const database = await world();
    const deferred = { kind: 'deferred', reason: 'the receiver answered 401' };
    for (const secret of [OTHER_SECRET, 'short'])
      expect(await (await senderTo(database, secret))('e1', {})).toEqual(deferred);
  });

  test('defers messages while its inbox is not available', async () => {
    const database = await world();
    const send = await senderTo(database);
    await sql`alter table inbox rename to moved`.execute(database);
    const deferred = {
      kind: 'deferred',
      reason: 'the receiver answered 503 with Retry-After: 1',
      retryAfterMs: 1_000,
    };
    expect(await send('e1', {})).toEqual(deferred);
    await sql`alter table moved rename to inbox`.execute(database);
    expect(await send('e1', {})).toEqual({ kind: 'accepted' });
  });

  test('leaves errors of its own work to the server', async () => {
    const database = await world();
    const send = await senderTo(database);
    await sql`drop table payments`.execute(database);
    expect(await send('e1', {})).toEqual({ kind: 'deferred', reason: 'the receiver answered 500' });
  });
});
