import { expect, test } from 'vitest';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { LoggedEvent } from '../../events/log/event-record.js';
import { toMessage } from './message-format.js';

const event: LoggedEvent = {
  id: '01890a5d-ac96-7d4c-8040-c2b7a4f8a001',
  cursor: { epoch: 1, transactionId: '7', position: 3 },
  actionId: '01890a5d-ac96-7d4c-8040-c2b7a4f8a002',
  namespace: 'example.wallet',
  modelId: '01890a5d-ac96-7d4c-8040-c2b7a4f8a003',
  modelName: 'Wallet',
  modelVersion: 12,
  eventType: 'WalletMoneyDepositedEvent',
  eventVersion: 2,
  payload: { amount: '5' },
  createdDate: '2026-01-02T03:04:05.678Z',
  traceContext: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  action: null,
};
const format = {
  shard: ShardIdentifier.of(1, 0),
  schemaBaseUrl: 'https://wallet.example',
} as const;

const ATTRIBUTES = {
  specversion: '1.0',
  id: event.id,
  source: '/example.wallet/shards/1-0',
  type: 'example.wallet.WalletMoneyDepositedEvent',
  subject: event.modelId,
  time: '2026-01-02T03:04:05.678Z',
  dataschema: 'https://wallet.example/schemas/WalletMoneyDepositedEvent/2.json',
  traceparent: event.traceContext,
  sequence: '0000000000000000012',
  partitionkey: event.modelId,
  modelname: 'Wallet',
  eventversion: '2',
  actionid: event.actionId,
};

test('a structured message is one CloudEvent, keyed by its model', () => {
  const message = toMessage(event, { ...format, shape: 'structured' });
  expect(JSON.parse(message.body)).toEqual({
    ...ATTRIBUTES,
    datacontenttype: 'application/json',
    data: { amount: '5' },
  });
  expect(message).toMatchObject({
    id: event.id,
    key: event.modelId,
    contentType: 'application/cloudevents+json; charset=UTF-8',
    attributes: {},
  });
});

test('a binary message has only the payload as its body, and attributes for the rest', () => {
  const { body, contentType, attributes } = toMessage(event, { ...format, shape: 'binary' });
  expect(JSON.parse(body)).toEqual({ amount: '5' });
  expect(contentType).toBe('application/json');
  expect(attributes).toEqual(ATTRIBUTES);
});

test('attributes have names that CloudEvents allows, and values that are never empty', () => {
  const { attributes } = toMessage(event, { ...format, shape: 'binary' });
  for (const [name, value] of Object.entries(attributes)) {
    expect(name).toMatch(/^[a-z0-9]{1,20}$/);
    expect(value).not.toBe('');
  }
});

test('unknown attributes are left out: no schema URL, no trace or an invalid one', () => {
  const without = { ...event, traceContext: 'none' };
  const { attributes } = toMessage(without, { shard: format.shard, shape: 'binary' });
  expect(attributes).not.toHaveProperty('dataschema');
  expect(attributes).not.toHaveProperty('traceparent');
});

test('sequences of one model are ordered as texts', () => {
  const sequenceOf = (modelVersion: number): string =>
    toMessage({ ...event, modelVersion }, { ...format, shape: 'binary' }).attributes['sequence'] ?? '';
  expect(sequenceOf(9) < sequenceOf(10)).toBe(true);
});
