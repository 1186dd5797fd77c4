import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readEventLock } from '../relay/schemas/event-lock.js';
import { EventSchemas } from './event-schemas.js';
import type { ReceivedEvent } from './received-event.js';

const LOCK = fileURLToPath(new URL('../../examples/wallet/migrations/events.lock', import.meta.url));
const schemas = EventSchemas.fromLock(LOCK);

function deposited(data: ReceivedEvent['data'], more: Partial<ReceivedEvent> = {}): ReceivedEvent {
  return {
    id: 'e1',
    source: '/example.wallet/shards/0-0',
    type: 'example.wallet.WalletMoneyDepositedEvent',
    eventType: 'WalletMoneyDepositedEvent',
    eventVersion: 1,
    subject: 'm1',
    modelVersion: 2,
    time: undefined,
    dataSchema: undefined,
    traceContext: undefined,
    data,
    ...more,
  };
}

test('an event that matches its schema is returned', () => {
  const event = deposited({ amount: '5', newBalance: '-1.25' });
  expect(schemas.check(event)).toBe(event);
});

test.each([
  [{ amount: '5' }, "data must have required property 'newBalance'"],
  [{ amount: 5, newBalance: '1' }, 'data/amount must be string'],
  [{ amount: 'five', newBalance: '1' }, 'data/amount must match pattern'],
])('one that does not is refused with what is wrong: %j', (data, complaint) => {
  expect(() => schemas.check(deposited(data))).toThrow(complaint);
});

test('an event of an unknown version or type is refused', () => {
  const data = { amount: '5', newBalance: '1' };
  expect(() => schemas.check(deposited(data, { eventVersion: 9 }))).toThrow('version 9');
  expect(() => schemas.check(deposited(data, { eventType: 'Other' }))).toThrow('no schema for Other');
});

test('the lock contains a JSON Schema per version, with the ids of dataschema', () => {
  const found = readEventLock(readFileSync(LOCK, 'utf8'), 'https://wallet.example');
  const initiated = found.find(({ eventType }) => eventType === 'TransferInitiatedEvent');
  expect(initiated?.schema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://wallet.example/schemas/TransferInitiatedEvent/1.json',
    title: 'TransferInitiatedEvent',
    properties: {
      amount: { type: 'string', format: 'decimal', pattern: '^-?\\d+(\\.\\d+)?$' },
      destinationId: { type: 'string', format: 'uuid', 'x-model': 'Wallet' },
    },
  });
});

test.each(['{', '{}', '{"events":{"x":{}}}', '{"events":{"A@1":[]}}'])(
  'a lock that is none is refused: %s',
  (text) => {
    expect(() => readEventLock(text)).toThrow('events.lock');
  },
);
