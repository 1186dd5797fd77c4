import { expect, test } from 'vitest';
import type { RelayMessage } from '../../relay-sink.js';
import { type KafkaRecord, recordOf } from './record-of.js';

function message(more: Partial<RelayMessage> = {}): RelayMessage {
  return {
    id: 'e1',
    key: 'm1',
    modelName: 'Wallet',
    eventType: 'Wallet Created',
    contentType: 'application/json',
    attributes: { specversion: '1.0', id: 'e1', type: 'größe.Created', subject: 'm1' },
    body: '{"owner":"Größe"}',
    ...more,
  };
}

function textsOf({ headers, key, value }: KafkaRecord): object {
  const pairs = headers instanceof Map ? [...headers] : [];
  return {
    key: String(key),
    value: String(value),
    headers: Object.fromEntries(pairs.map(([name, text]) => [String(name), String(text)])),
  };
}

test('a record has the key, the body and every attribute of its message', () => {
  const record = recordOf('events.{model}.{event}', message());
  expect(record.topic).toBe('events.Wallet.Wallet_Created');
  expect(textsOf(record)).toEqual({
    key: 'm1',
    value: '{"owner":"Größe"}',
    headers: {
      ce_specversion: '1.0',
      ce_id: 'e1',
      ce_type: 'größe.Created',
      ce_subject: 'm1',
      'content-type': 'application/json',
    },
  });
});
