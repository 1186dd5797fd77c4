import { expect, test } from 'vitest';
import type { EventDescriptor } from '../domain/descriptor.js';
import type { LoggedEvent } from '../events/log/event-record.js';
import { creditedEvent } from '../events/test-support/ledger.js';
import { latestVersions } from './event-versions.js';
import { sinkConsumers } from './sink-consumer.js';
import { collectingSink } from './test-support/collecting-sink.js';

const credited: EventDescriptor = {
  ...creditedEvent,
  version: 2,
  upcasters: [({ amount = null }) => ({ amount, currency: 'EUR' })],
};

function event(more: Partial<LoggedEvent> = {}): LoggedEvent {
  return {
    id: 'e1',
    cursor: { epoch: 1, transactionId: '7', position: 3 },
    actionId: 'a1',
    namespace: 'example',
    modelId: 'm1',
    modelName: 'Account',
    modelVersion: 2,
    eventType: 'AccountCredited',
    eventVersion: 1,
    payload: { amount: '5' },
    createdDate: '2026-01-02T03:04:05.678Z',
    traceContext: null,
    action: null,
    ...more,
  };
}

test('an older event is upcast to the latest version, and its message names that version', () => {
  const latest = latestVersions([credited]).inForm(event());
  expect(latest).toMatchObject({ eventVersion: 2, payload: { amount: '5', currency: 'EUR' } });
});

test('an event stored under an earlier name is selected, and sent under the current one', () => {
  const renamed = { ...credited, name: 'AccountIncreased', aliases: ['AccountCredited'] };
  const versions = latestVersions([renamed]);
  const current = { eventType: 'AccountIncreased', eventVersion: 2 };
  expect(versions.inForm(event())).toMatchObject(current);
  expect(versions.inForm(event({ eventVersion: 2 }))).toMatchObject(current);
  expect(versions.isTooNew(event({ eventVersion: 3 }))).toBe(true);
  const { definition } = collectingSink({ versions: 'latest' });
  const sinks = [{ ...definition, events: ['AccountIncreased'] }];
  const { consumers } = sinkConsumers(sinks, { events: [renamed], warn: () => {} });
  expect(consumers[0]?.selection.eventTypes).toEqual(['AccountIncreased', 'AccountCredited']);
});

test('an event of the latest version, or of a class that no longer exists, is sent as stored', () => {
  const versions = latestVersions([credited]);
  for (const stored of [
    event({ eventVersion: 2 }),
    event({ eventType: 'AccountRenamed', eventVersion: 3 }),
  ]) {
    expect(versions.isTooNew(stored)).toBe(false);
    expect(versions.inForm(stored)).toBe(stored);
  }
});

test('an event of a newer version is left to a newer process', () => {
  expect(latestVersions([credited]).isTooNew(event({ eventVersion: 3 }))).toBe(true);
});

test('a sink that sends the latest versions is refused if an upcaster is missing', () => {
  const { definition } = collectingSink({ versions: 'latest' });
  const events = [{ ...credited, upcasters: [] }];
  expect(() => sinkConsumers([definition], { events, warn: () => {} })).toThrow(
    'AccountCredited has version 2 and 0 upcasters',
  );
});

test('a sink whose filter names an unknown event is reported', () => {
  const { definition } = collectingSink({ events: ['AccountCredited', 'AccountCreditted'] });
  const warnings: string[] = [];
  sinkConsumers([definition], { events: [credited], warn: (message) => warnings.push(message) });
  expect(warnings).toEqual([
    'Sink collect sends the event AccountCreditted, which the application does not have. Check the spelling',
  ]);
});
