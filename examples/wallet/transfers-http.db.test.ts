import { ShardedId } from 'fw-actions';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../runtime/events/test-support/ledger.js';
import { testServer } from '../../test/databases/vitest.js';
import { type Answer, JSON_TYPE, WalletService } from '../../test/http/wallet-service.js';
import { Wallet } from './models/wallet.js';
import { MEXICO_SHARD } from './shards.js';

/** An unused id on the shard of Mexico. */
const unknownWallet = (): string => ShardedId.generate(Wallet, MEXICO_SHARD).getValue();

describe('Transfers over HTTP', () => {
  let service: WalletService;

  beforeAll(async () => {
    service = await WalletService.start('pglite', testServer());
  });
  afterAll(async () => {
    // Every answer was as documented.
    expect(service.violations).toEqual([]);
    await service.close();
  });

  const transfer = (request: object, key?: string): Promise<Answer> => {
    const headers = key === undefined ? JSON_TYPE : { ...JSON_TYPE, 'idempotency-key': key };
    return service.post('/transfers', JSON.stringify(request), headers);
  };

  const balanceOf = async (id: string): Promise<unknown> =>
    (await service.call('GET', `/wallets/${id}`)).body['balance'];

  /** Reads a stream of events until it contains the text. */
  async function streamed(path: string, text: string, lastEventId?: string): Promise<string> {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const ended = new AbortController();
    const response = await fetch(`${service.url}${path}`, { headers, signal: ended.signal });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.getReader();
    let received = '';
    while (!received.includes(text)) received += new TextDecoder().decode((await reader?.read())?.value);
    ended.abort();
    return received;
  }

  test('stream the events of a wallet from a version on, to callers who may read it', async () => {
    const wallet = await service.openWallet('5');
    const path = `/wallets/${wallet}/events`;
    const live = streamed(path, 'WalletMoneyDepositedEvent');
    await service.post(`/wallets/${wallet}/deposit`, '{"amount":"2"}');
    const received = await live;
    expect(received.match(/^id: \d+\nevent: \w+$/gm)).toEqual([
      'id: 1\nevent: WalletCreatedEvent',
      'id: 2\nevent: WalletMoneyDepositedEvent',
    ]);
    expect(received).toContain('"payload":{"amount":"2","newBalance":"7"}');
    expect(await streamed(path, 'Deposited', '1')).not.toContain('WalletCreatedEvent');
    const unknown = `${service.url}/wallets/${unknownWallet()}/events`;
    const refused = await fetch(unknown, { headers: { accept: 'text/event-stream' } });
    expect(refused.status).toBe(404);
  });

  test('serve the schemas of their events at the addresses in messages', async () => {
    const schema = (version: number) =>
      fetch(`${service.url}/schemas/TransferInitiatedEvent/${version}.json`);
    expect(await (await schema(1)).json()).toMatchObject({ title: 'TransferInitiatedEvent', type: 'object' });
    expect((await schema(2)).status).toBe(404);
  });

  async function ending(location: string | null): Promise<Answer> {
    let answer = await service.call('GET', String(location));
    await until(async () => {
      answer = await service.call('GET', String(location));
      return /COMPLETED|REFUNDED/.test(String(answer.body['state']));
    });
    return answer;
  }

  test('are accepted with 202 and a Location, and under one key happen once', async () => {
    const [sourceId, destinationId] = [
      await service.openWallet('100', 'US'),
      await service.openWallet('5', 'MX'),
    ];
    const request = { sourceId, destinationId, amount: '30.5' };
    const { status, headers, body } = await transfer(request, 'transfer-1');
    const location = headers.get('location');
    expect([status, location]).toEqual([202, `/transfers/${body['id']}`]);
    expect(body).toMatchObject({ ...request, currency: 'MXN', reason: null });
    for (const again of await Promise.all([1, 2, 3].map(() => transfer(request, 'transfer-1')))) {
      expect([again.status, again.body['id']]).toEqual([202, body['id']]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }
    const other = await transfer({ ...request, amount: '31' }, 'transfer-1');
    expect([other.status, other.body['code']]).toEqual([422, 'FW_KEY_REUSED']);
    const done = await ending(location);
    expect([done.status, done.headers.get('etag')]).toEqual([200, '"2"']);
    expect(done.body).toMatchObject({ id: body['id'], state: 'COMPLETED', reason: null });
    expect([await balanceOf(sourceId), await balanceOf(destinationId)]).toEqual(['69.5', '35.5']);
  });

  test('to an unknown destination are refunded with the reason', async () => {
    const sourceId = await service.openWallet('100');
    const { headers } = await transfer({ sourceId, destinationId: unknownWallet(), amount: '30' });
    const { body } = await ending(headers.get('location'));
    expect(body).toMatchObject({
      state: 'REFUNDED',
      reason: expect.stringMatching(/^Wallet .* does not exist$/),
    });
    expect(await balanceOf(sourceId)).toBe('100');
  });

  test('that the source refuses, and unknown ones, are problems', async () => {
    const sourceId = await service.openWallet('1');
    const answers = await Promise.all([
      transfer({ sourceId, destinationId: unknownWallet(), amount: '2' }),
      transfer({ sourceId, destinationId: 'unknown', amount: '1' }),
      transfer({ sourceId: unknownWallet(), destinationId: sourceId, amount: '1' }),
      service.call('GET', `/transfers/${unknownWallet()}`),
      service.call('GET', '/transfers/unknown'),
    ]);
    expect(answers.map(({ status, body }) => `${status} ${body['code']}`)).toEqual([
      '409 FW_REFUSED',
      '400 FW_VALIDATION',
      '404 FW_MODEL_NOT_FOUND',
      '404 FW_MODEL_NOT_FOUND',
      '400 FW_VALIDATION',
    ]);
    expect(await balanceOf(sourceId)).toBe('1');
  });
});
