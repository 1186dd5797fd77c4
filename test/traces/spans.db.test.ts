import { trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { afterEach, expect, test } from 'vitest';
import {
  type Ledger,
  ledgerMigrations,
  openLedger,
  until,
} from '../../runtime/events/test-support/ledger.js';
import { HERE, makeBank } from '../../runtime/execution/test-support/accounts.js';
import { PublishQueue } from '../../runtime/relay/publish-queue.js';
import { ACCEPTED } from '../../runtime/relay/relay-sink.js';
import { DriverFailure } from '../../runtime/sharding/driver-failure.js';
import { wrappedRegistry } from '../../runtime/sharding/test-support/wrapped-registry.js';
import { startInner, startSpan } from '../../runtime/tracing.js';
import { describeOn } from '../databases/vitest.js';
import { drawn, linkedTo, traceInMemory, traceOff } from './trace-tree.js';

afterEach(traceOff);

function traceOf(spans: readonly ReadableSpan[], root: string): string {
  const found = spans.find(({ name, parentSpanContext }) => name === root && parentSpanContext === undefined);
  return found === undefined ? '' : drawn(spans, found.spanContext().traceId);
}

describeOn('postgresql', 'Spans', (harness) => {
  test('of an action whose reply was lost show the fence and the further attempt', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    let isLost = false;
    const failing = wrappedRegistry(databases, (statement, send) => {
      if (isLost || !/INSERT INTO eventlog\.actions/.test(statement.text)) return send();
      isLost = true;
      throw new DriverFailure('the connection was lost', { phase: 'in-flight' });
    });
    const ledger = openLedger(failing);
    const { spans } = traceInMemory();
    await ledger.open();
    expect(traceOf(spans(), 'execute Open').split('\n')).toEqual([
      'execute Open @(0, 0)',
      '  flush @(0, 0)',
      '  fence @(0, 0)',
      '  attempt',
      '    flush @(0, 0)',
    ]);
    const [attempt] = spans().filter(({ name }) => name === 'attempt');
    expect(attempt?.attributes['fw.retry.reason']).toBe('lost');
    const [flush] = spans().filter(({ name }) => name === 'flush');
    expect(flush?.attributes['error.type']).toBe('DriverFailure');
  });

  test('of an action that reads show its statements within perform', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const account = await openLedger(databases).open();
    const ledger = openLedger(databases);
    const { spans } = traceInMemory();
    const credited = async (): Promise<readonly string[]> => {
      const before = spans().length;
      await ledger.credit(account, 1);
      return traceOf(spans().slice(before), 'execute Credit').split('\n');
    };
    const trace = ['execute Credit @(0, 0)', '  perform', '    read accounts @(0, 0)', '  flush @(0, 0)'];
    expect(await credited()).toEqual(trace);
    // The process remembers the account, so nothing is read.
    expect(await credited()).toEqual([trace[0], trace[3]]);
    const unknown = account.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    await expect(ledger.credit(unknown, 1)).rejects.toThrow(unknown);
    const failed = spans().filter(({ attributes }) => attributes['error.type'] !== undefined);
    expect(failed.map(({ name }) => name)).toEqual(['perform', 'execute Credit']);
  });

  test('of the application within perform belong to the span of the action', async () => {
    const bank = await makeBank(harness);
    const { spans } = traceInMemory();
    await bank.run(() => trace.getTracer('application').startSpan('own').end());
    expect(traceOf(spans(), 'execute Do')).toBe('execute Do\n  own');
  });

  let started: Ledger | undefined;
  afterEach(() => started?.events.stop(0));

  test('of a scheduled action continue the trace of the action that scheduled it', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    started = openLedger(databases, { limits: { surveyMs: 50 } });
    const account = await started.open();
    const { spans } = traceInMemory();
    await started.creditLater(account, 7, new Date(0));
    started.events.start();
    await until(() => spans().some(({ name }) => name === 'scheduled Credit'));
    expect(traceOf(spans(), 'execute CreditLater')).toContain(
      '\n  scheduled Credit\n    execute Credit @(0, 0)\n',
    );
  });
});

test('Spans of a published batch are linked to the actions of its events', async () => {
  const { spans } = traceInMemory();
  const contexts = ['a', 'b'].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);
  const queue = new PublishQueue({
    name: 'Sink test',
    sink: { publish: async (messages) => messages.map(() => ACCEPTED), close: async () => {} },
    limits: { batchSize: 4, batchBytes: 1_000, inFlight: 1, timeoutMs: 60_000, retryDelayMs: 1 },
    random: () => 1,
    counts: { accepted: 0, deferred: 0, rejected: 0, accepting: true },
  });
  const common = { modelName: 'Wallet', eventType: 'Created', contentType: 'application/json' };
  const message = (id: string, traceContext: string | undefined) => ({
    ...{ ...common, id, key: id, attributes: {}, headers: {}, body: '{}', traceContext },
  });
  const { signal } = new AbortController();
  const [first, second] = contexts;
  await Promise.all([
    queue.publish([message('1', first)], signal),
    queue.publish([message('2', second)], signal),
    queue.publish([message('3', undefined)], signal),
  ]);
  const published = spans().filter(({ name }) => name === 'publish');
  expect(published.map((span) => linkedTo(span).map(({ traceId }) => traceId))).toEqual([
    ['a'.repeat(32), 'b'.repeat(32)],
  ]);
  expect(published[0]?.attributes['messaging.batch.message_count']).toBe(3);
});

test('Without an SDK there is no span', () => {
  expect([startSpan('one'), startInner(undefined, 'two')]).toEqual([undefined, undefined]);
});
