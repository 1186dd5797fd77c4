import { expect, test } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { LoggedEvent } from '../events/log/event-record.js';
import { type MessageShape, toMessage } from '../relay/message/message-format.js';
import { percentEncoded } from '../relay/sinks/percent-encoded.js';
import { readMessage } from './received-event.js';

const event: LoggedEvent = {
  id: 'e1',
  cursor: { epoch: 1, transactionId: '7', position: 3 },
  actionId: 'a1',
  namespace: 'example größe',
  modelId: 'm1',
  modelName: 'Wallet',
  modelVersion: 12,
  eventType: 'WalletClosedEvent',
  eventVersion: 2,
  payload: { reason: 'Größe' },
  createdDate: '2026-01-02T03:04:05.678Z',
  traceContext: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  action: null,
};

function sent(shape: MessageShape): ReturnType<typeof toMessage> {
  return toMessage(event, { shape, shard: ShardIdentifier.of(0, 1), schemaBaseUrl: 'https://a.example' });
}

const whole = {
  id: 'e1',
  source: '/example%20gr%C3%B6%C3%9Fe/shards/0-1',
  type: 'example größe.WalletClosedEvent',
  eventType: 'WalletClosedEvent',
  eventVersion: 2,
  subject: 'm1',
  modelVersion: 12,
  time: new Date('2026-01-02T03:04:05.678Z'),
  dataSchema: 'https://a.example/schemas/WalletClosedEvent/2.json',
  traceContext: event.traceContext,
  data: { reason: 'Größe' },
};

test('structured messages of the relay are read from any transport', () => {
  const { body, contentType } = sent('structured');
  expect(readMessage({ headers: { 'Content-Type': contentType }, body })).toEqual(whole);
  const bytes = new Map([[Buffer.from('content-type'), Buffer.from(contentType)]]);
  expect(readMessage({ headers: bytes, body: Buffer.from(body) })).toEqual(whole);
});

test('binary messages are read from HTTP, NATS and Kafka', () => {
  const { body, contentType, attributes } = sent('binary');
  const encoded = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, percentEncoded(value)]);
  const http = { ...Object.fromEntries(encoded), 'content-type': contentType } as Record<string, string>;
  expect(readMessage({ headers: http, body })).toEqual(whole);
  const kafka = Object.entries(attributes).map(([name, value]) => [`ce_${name}`, value] as const);
  expect(readMessage({ headers: new Map(kafka), body })).toEqual(whole);
});

test('outbox-router messages are read with the fields of that format', () => {
  const headers = { id: 'e1', eventType: 'WalletClosedEvent', eventVersion: '2', modelVersion: '12' };
  expect(readMessage({ headers, body: JSON.stringify(whole.data) })).toMatchObject({
    id: 'e1',
    source: '',
    eventType: 'WalletClosedEvent',
    eventVersion: 2,
    modelVersion: 12,
    subject: undefined,
    data: { reason: 'Größe' },
  });
});

const STRUCTURED = { 'content-type': 'application/cloudevents+json' };

test('a message of another sender, without a version of its event, has version 1', () => {
  const body = '{"specversion":"1.0","id":"1","type":"a.Paid","source":"s","data":{}}';
  expect(readMessage({ headers: STRUCTURED, body })).toMatchObject({ eventType: 'Paid', eventVersion: 1 });
  expect(readMessage({ headers: { id: '1', eventType: 'Paid' }, body: '{}' })).toMatchObject({
    eventVersion: 1,
  });
});

test.each([
  ['neither a CloudEvent', {}, '{}'],
  ['is not JSON', STRUCTURED, '{'],
  ['is not a JSON object', STRUCTURED, '[]'],
  ['has no specversion', STRUCTURED, '{"data":{}}'],
  ['specversion 2.0', STRUCTURED, '{"specversion":"2.0","data":{}}'],
  ['has no id', STRUCTURED, '{"specversion":"1.0","type":"t","source":"s","data":{}}'],
  [
    'data of the message is not a JSON object',
    STRUCTURED,
    '{"specversion":"1.0","id":"1","type":"t","source":"s"}',
  ],
] as const)('refuses a message that %s', (complaint, headers, body) => {
  expect(() => readMessage({ headers, body })).toThrow(complaint);
});

test('refuses bytes that are not UTF-8', () => {
  expect(() => readMessage({ headers: STRUCTURED, body: Buffer.from([0xff, 0xfe]) })).toThrow('is not UTF-8');
});
