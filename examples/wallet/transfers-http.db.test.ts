import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ShardedId, ShardIdentifier } from 'fw-actions';
import { fixedPrincipal, type RunningServer } from 'fw-actions/http';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { until } from '../../runtime/events/test-support/ledger.js';
import { writeWalletConfig } from '../../test/customer/wallet-config.js';
import { startServer } from './generated/server.js';
import { Wallet } from './models/wallet.js';
import { MEXICO_SHARD } from './shards.js';

/** Starting embedded databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

describe('Transfers over HTTP', () => {
  const directory = mkdtempSync(join(tmpdir(), 'fw-transfers-'));
  let server: RunningServer;

  beforeAll(async () => {
    const config = writeWalletConfig(directory, {
      global: { jdbcUrl: 'jdbc:pglite:mem:transfers-global' },
      mexico: { jdbcUrl: 'jdbc:pglite:mem:transfers-mexico' },
    });
    const argv = ['--config', config, '--port', '0'];
    server = await startServer({
      authenticator: fixedPrincipal('alice', { role: 'operator' }),
      argv,
      schemas: fileURLToPath(new URL('migrations/events.lock', import.meta.url)),
      log: pino({ level: 'silent' }),
    });
  }, 120_000);

  afterAll(async () => {
    await server?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function send(path: string, body?: object, key?: string): Promise<Answer> {
    const response = await fetch(`${server.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = (await response.json()) as Answer['body'];
    return { status: response.status, headers: response.headers, body: answer };
  }

  async function openWallet(country: string, balance: string, currency = 'EUR'): Promise<string> {
    const { body } = await send('/wallets', { country, ownerId: OWNER, currency, initialBalance: balance });
    return String(body['id']);
  }

  async function closedWallet(): Promise<string> {
    const id = await openWallet('MX', '0');
    await send(`/wallets/${id}/close`, {});
    return id;
  }

  async function balanceOf(id: string): Promise<unknown> {
    return (await send(`/wallets/${id}`)).body['balance'];
  }

  /** Reads a stream of events until it contains the text. */
  async function streamed(path: string, text: string, lastEventId?: string): Promise<string> {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const ended = new AbortController();
    const response = await fetch(`${server.url}${path}`, { headers, signal: ended.signal });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.getReader();
    let received = '';
    while (!received.includes(text)) received += new TextDecoder().decode((await reader?.read())?.value);
    ended.abort();
    return received;
  }

  test('stream the events of a wallet from a version on, to callers who may read it', async () => {
    const wallet = await openWallet('MX', '5');
    const path = `/wallets/${wallet}/events`;
    const live = streamed(path, 'WalletMoneyDepositedEvent');
    await send(`/wallets/${wallet}/deposit`, { amount: '2' });
    const received = await live;
    expect(
      [...received.matchAll(/^id: (\d+)\nevent: (\w+)$/gm)].map(([, id, type]) => `${id} ${type}`),
    ).toEqual(['1 WalletCreatedEvent', '2 WalletMoneyDepositedEvent']);
    expect(received).toContain('"payload":{"amount":"2","newBalance":"7"}');
    expect(await streamed(path, 'Deposited', '1')).not.toContain('WalletCreatedEvent');
    expect((await send(path)).body).toMatchObject({ items: [{ eventType: 'WalletCreatedEvent' }, {}] });
    const unknown = path.replace(wallet, wallet.replace(/.{4}$/, '0000'));
    const refused = await fetch(`${server.url}${unknown}`, { headers: { accept: 'text/event-stream' } });
    expect(refused.status).toBe(404);
  });

  test('serve the schemas of their events at the addresses in messages', async () => {
    const { body } = await send('/schemas/TransferInitiatedEvent/1.json');
    expect(body).toMatchObject({ title: 'TransferInitiatedEvent', type: 'object' });
    expect((await send('/schemas/TransferInitiatedEvent/2.json')).status).toBe(404);
  });

  async function ending(location: string): Promise<Answer> {
    let answer = await send(location);
    await until(async () => {
      answer = await send(location);
      return /COMPLETED|REFUNDED/.test(String(answer.body['state']));
    });
    return answer;
  }

  test('are accepted with 202 and a Location, and are then completed', async () => {
    const [sourceId, destinationId] = [await openWallet('US', '100'), await openWallet('MX', '5')];
    const { status, headers, body } = await send('/transfers', { sourceId, destinationId, amount: '30.5' });
    expect([status, headers.get('location')]).toEqual([202, `/transfers/${body['id']}`]);
    expect(body).toMatchObject({ sourceId, destinationId, amount: '30.5', currency: 'EUR', reason: null });
    const done = await ending(headers.get('location') ?? '');
    expect([done.status, done.headers.get('etag')]).toEqual([200, '"2"']);
    expect(done.body).toMatchObject({ id: body['id'], state: 'COMPLETED', reason: null });
    expect([await balanceOf(sourceId), await balanceOf(destinationId)]).toEqual(['69.5', '35.5']);
  });

  test('under one key happen once', async () => {
    const [sourceId, destinationId] = [await openWallet('MX', '100'), await openWallet('US', '0')];
    const request = { sourceId, destinationId, amount: '30' };
    const first = await send('/transfers', request, 'transfer-1');
    const repeats = await Promise.all([1, 2, 3].map(() => send('/transfers', request, 'transfer-1')));
    expect(new Set([first, ...repeats].map(({ status, body }) => `${status} ${body['id']}`)).size).toBe(1);
    expect(repeats.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([
      'true',
      'true',
      'true',
    ]);
    const other = await send('/transfers', { ...request, amount: '31' }, 'transfer-1');
    expect([other.status, other.body['code']]).toEqual([422, 'FW_KEY_REUSED']);
    await ending(first.headers.get('location') ?? '');
    expect([await balanceOf(sourceId), await balanceOf(destinationId)]).toEqual(['70', '30']);
  });

  test.each([
    ['more than there is', 409, 'FW_REFUSED', 'Insufficient balance', { amount: '100.01' }],
    ['nothing', 400, 'FW_VALIDATION', 'Transfer amount must be positive', { amount: '0' }],
    ['a destination that is no id', 400, 'FW_VALIDATION', /destinationId/, { destinationId: 'nobody' }],
  ])('of %s are refused at once', async (_, status, code, detail, change) => {
    const sourceId = await openWallet('US', '100');
    const request = { sourceId, destinationId: unknownWallet(), amount: '30', ...change };
    const answer = await send('/transfers', request);
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
    expect(answer.body['detail']).toEqual(
      typeof detail === 'string' ? detail : expect.stringMatching(detail),
    );
    expect(await balanceOf(sourceId)).toBe('100');
  });

  test('from a wallet that is closed, unknown or the destination itself are refused at once', async () => {
    const [closed, own] = [await closedWallet(), await openWallet('US', '100')];
    const ask = (sourceId: string, destinationId: string): Promise<Answer> =>
      send('/transfers', { sourceId, destinationId, amount: '1' });
    const answers = [
      await ask(closed, own),
      await ask(unknownWallet(), own),
      await ask(unknownWallet(7), own),
      await ask(own, own),
    ];
    expect(answers.map(({ status, body }) => [status, body['code']])).toEqual([
      [409, 'FW_REFUSED'],
      [404, 'FW_MODEL_NOT_FOUND'],
      [404, 'FW_UNKNOWN_SHARD'],
      [400, 'FW_VALIDATION'],
    ]);
  });

  test('that do not exist are not found', async () => {
    const { status, body } = await send(`/transfers/${unknownWallet()}`);
    expect([status, body['code']]).toEqual([404, 'FW_MODEL_NOT_FOUND']);
    expect((await send('/transfers/nobody')).status).toBe(400);
  });
});

/** An unused id, on the shard of Mexico or on a shard that is not configured. */
function unknownWallet(group?: number): string {
  const shard = group === undefined ? MEXICO_SHARD : ShardIdentifier.of(group, group);
  return ShardedId.generate(Wallet, shard).getValue();
}
