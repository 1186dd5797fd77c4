import { expect, test, vi } from 'vitest';
import type { RelayMessage } from '../../relay-sink.js';
import { kafkaSink } from './kafka-sink.js';

const opened: object[] = [];

// Without a broker: which producers are used is not visible on the wire.
vi.mock('./batch-producer.js', () => ({
  BatchProducer: class {
    constructor() {
      opened.push(this);
    }
    async send(): Promise<void> {}
    async close(): Promise<void> {}
  },
}));

test('a call whose signal is aborted before it takes no producer', async () => {
  const sink = kafkaSink({
    ...{ brokers: ['localhost:1'], topic: 'events', timeoutMs: 1_000, tls: false },
    ...{ mechanism: 'plain', username: undefined, password: undefined },
  } as unknown as Parameters<typeof kafkaSink>[0]);
  const none: readonly RelayMessage[] = [];
  for (const signal of [new AbortController().signal, AbortSignal.abort(), new AbortController().signal])
    await sink.publish(none, signal);
  expect(opened).toHaveLength(1);
});
