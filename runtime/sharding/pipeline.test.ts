import { expect, test } from 'vitest';
import { Pipeline } from './pipeline.js';
import type { RunnableConnection } from './pooled-connection.js';

interface AnyConnection extends RunnableConnection<AnyConnection> {}

class Sender {
  readonly pipeline = new Pipeline<AnyConnection>();
  timed = 0;

  constructor() {
    this.pipeline.connection = {} as AnyConnection;
  }

  /** Sends statements. Returns for each whether the next one may follow it. */
  send(count: number, executionMs: number, commitMs: number): readonly boolean[] {
    return Array.from({ length: count }, () => {
      const onCommit = this.pipeline.timer();
      const last = this.pipeline.last;
      if (onCommit !== undefined) this.timed += 1;
      onCommit?.(executionMs, commitMs);
      return last !== undefined;
    });
  }
}

test('without a connection no statement follows another', () => {
  expect(new Pipeline<AnyConnection>().last).toBeUndefined();
});

test('while commits are fast, statements are pipelined, and few of them are timed', () => {
  const sender = new Sender();
  expect(new Set(sender.send(10_000, 1, 0.3))).toEqual(new Set([true]));
  expect(sender.timed).toBe(19);
  expect(new Set(sender.send(10_000, 0.1, 0.5))).toEqual(new Set([true]));
});

test('while commits take most of the time, statements are not pipelined', () => {
  const sender = new Sender();
  sender.send(2_000, 4, 1);
  sender.send(3_072, 4, 10);
  expect(sender.send(2_000, 4, 10)).not.toContain(true);
  sender.send(1_024, 4, 1);
  expect(sender.send(2_000, 4, 1)).not.toContain(false);
});

test('one or two slow commits do not end pipelining', () => {
  const sender = new Sender();
  sender.send(2_000, 4, 1);
  expect(sender.send(2_048, 4, 60_000)).not.toContain(false);
  expect(sender.send(2_000, 4, 1)).not.toContain(false);
});
