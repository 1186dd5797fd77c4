import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { CallOptions, Rows, ShardDatabase, Statement } from '../../sharding/shard-database.js';
import { KeyReader } from './key-reader.js';

// All tests share one clock, because the process's deadline timer outlives a test.
beforeAll(() => {
  vi.useFakeTimers();
});

afterAll(() => {
  vi.useRealTimers();
});

/** A reader whose database the test controls. */
class Bench {
  /** Keys and time limit of each statement, and a function that answers that all keys are unknown. */
  readonly sent: { keys: string; timeoutMs: number | undefined; answer: () => void }[] = [];
  readonly reader: KeyReader;

  constructor() {
    const query = ({ values: [, , key] }: Statement, options?: CallOptions): Promise<Rows> =>
      new Promise((resolve) => {
        const answer = (): void => resolve({ columns: [], rows: [], command: 'SELECT', rowCount: 0 });
        this.sent.push({ keys: String(key), timeoutMs: options?.timeoutMs, answer });
      });
    const database = { shard: ShardIdentifier.of(0, 0), query };
    this.reader = new KeyReader(database as unknown as ShardDatabase);
  }

  /** The outcome of a look-up: `unknown`, its error, or undefined while it waits. */
  async lookUp(key: string, timeoutMs: number): Promise<{ readonly end: unknown }> {
    const lookUp = { end: undefined as unknown };
    this.reader.read({ principal: 'alice', operation: 'Open', key }, { timeoutMs }).then(
      () => {
        lookUp.end = 'unknown';
      },
      (error: unknown) => {
        lookUp.end = error;
      },
    );
    await vi.advanceTimersByTimeAsync(0);
    return lookUp;
  }

  /** Sends as many statements as may be in flight, so that further look-ups wait. */
  async occupy(): Promise<void> {
    for (const key of ['1', '2', '3', '4']) await this.lookUp(key, 20_000);
  }
}

test('a look-up that ends at its deadline in the queue is not sent', async () => {
  const bench = new Bench();
  await bench.occupy();
  const hasty = await bench.lookUp('a', 300);
  const patient = await bench.lookUp('b', 20_000);
  await vi.advanceTimersByTimeAsync(350);
  expect(hasty.end).toMatchObject({ reason: 'deadline' });
  bench.sent[0]?.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(bench.sent[4]?.keys).toBe('b');
  bench.sent[4]?.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(patient.end).toBe('unknown');
});

test('a look-up in flight ends at its deadline, although another one of its batch has a later deadline', async () => {
  const bench = new Bench();
  await bench.occupy();
  const hasty = await bench.lookUp('a', 300);
  const patient = await bench.lookUp('b', 20_000);
  bench.sent[0]?.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(bench.sent[4]?.timeoutMs).toBeGreaterThan(19_000);
  await vi.advanceTimersByTimeAsync(350);
  expect(hasty.end).toMatchObject({ phase: 'in-flight', reason: 'deadline' });
  expect(patient.end).toBeUndefined();
  bench.sent[4]?.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(patient.end).toBe('unknown');
});
