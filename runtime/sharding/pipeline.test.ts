import { expect, test } from 'vitest';
import { Pipeline } from './pipeline.js';
import type { RunnableConnection, RunOptions } from './runnable-connection.js';
import type { Rows } from './shard-database.js';

const ROWS: Rows = { columns: [], rows: [], command: 'SELECT', rowCount: 0 };
const STATEMENT = { text: 'select', values: [] };

interface Followed extends RunnableConnection<Followed> {
  readonly runs: readonly RunOptions<Followed>[];
}

/** One on which something is under way. */
function busyConnection(): Followed {
  const runs: RunOptions<Followed>[] = [];
  const follow = (_: unknown, options: RunOptions<Followed>): Promise<Rows> => {
    runs.push(options);
    return Promise.resolve(ROWS);
  };
  return { runs, follow } as unknown as Followed;
}

class Sender {
  readonly pipeline = new Pipeline<Followed>();
  timed = 0;

  constructor() {
    this.pipeline.connection = busyConnection();
  }

  /** Whether they went behind the one under way. */
  send(count: number, executionMs: number, commitMs: number): readonly boolean[] {
    return Array.from({ length: count }, () => {
      const onCommit = this.pipeline.timer();
      const call = this.pipeline.follow(STATEMENT, { deadlineAt: 0, onCommit });
      if (onCommit !== undefined) this.timed += 1;
      onCommit?.(executionMs, commitMs);
      return call !== undefined;
    });
  }
}

test('without a connection, or one that cannot, a statement goes elsewhere', () => {
  const pipeline = new Pipeline<Followed>();
  expect(pipeline.follow(STATEMENT, { deadlineAt: 0 })).toBeUndefined();
  pipeline.connection = {} as Followed;
  expect(pipeline.follow(STATEMENT, { deadlineAt: 0 })).toBeUndefined();
});

test('while commits are quick, statements go behind one another, and few of them are timed', () => {
  const sender = new Sender();
  expect(new Set(sender.send(10_000, 1, 0.3))).toEqual(new Set([true]));
  expect(sender.timed).toBe(19);
  expect(new Set(sender.send(10_000, 0.1, 0.5))).toEqual(new Set([true]));
});

test('while commits take most of the time, they do not', () => {
  const sender = new Sender();
  sender.send(2_000, 4, 1);
  sender.send(2_048, 4, 10);
  expect(sender.send(2_000, 4, 10)).not.toContain(true);
  sender.send(4_096, 4, 1);
  expect(sender.send(2_000, 4, 1)).not.toContain(false);
});
