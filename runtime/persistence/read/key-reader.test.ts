import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, Rows, ShardDatabase, Statement } from '../../sharding/shard-database.js';
import { KeyReader } from './key-reader.js';

/** One statement under way. */
interface SentLookUp {
  /** The keys of the statement, as text. */
  readonly keys: string;
  readonly timeoutMs: number | undefined;
  /** Answers that all keys are unknown. */
  answer(): void;
  fail(error: unknown): void;
}

/** A reader whose database the test controls. */
class Bench {
  readonly sent: SentLookUp[] = [];
  readonly reader: KeyReader;

  constructor() {
    const database = {
      query: (statement: Statement, options?: CallOptions) =>
        new Promise<Rows>((resolve, reject) => {
          this.sent.push({
            keys: String(statement.values[2]),
            timeoutMs: options?.timeoutMs,
            answer: () => resolve({ columns: [], rows: [], command: 'SELECT', rowCount: 0 }),
            fail: reject,
          });
        }),
    };
    this.reader = new KeyReader(database as unknown as ShardDatabase);
  }

  /** The outcome of a look-up: `unknown`, its error, or undefined while it waits. */
  lookUp(key: string, timeoutMs?: number): { readonly end: unknown } {
    const lookUp = { end: undefined as unknown };
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    this.reader.read({ principal: 'alice', operation: 'Open', key }, options).then(
      () => {
        lookUp.end = 'unknown';
      },
      (error: unknown) => {
        lookUp.end = error;
      },
    );
    return lookUp;
  }

  /** Sends as many statements as may be in flight, so that further look-ups wait. */
  occupy(timeoutMs?: number): void {
    for (const key of ['1', '2', '3', '4']) this.lookUp(key, timeoutMs);
  }
}

describe('a look-up', () => {
  // All tests share one clock, because the process's deadline timer outlives a test.
  beforeAll(() => {
    vi.useFakeTimers();
  });

  afterAll(() => {
    vi.useRealTimers();
  });

  test('alone is sent at once, with its full time limit or that of the data source', () => {
    const bench = new Bench();
    bench.lookUp('a', 600);
    bench.lookUp('b');
    expect(bench.sent.map(({ timeoutMs }) => timeoutMs)).toEqual([600, undefined]);
  });

  test('that has waited has only its remaining time', async () => {
    const bench = new Bench();
    bench.occupy();
    const lookUp = bench.lookUp('a', 600);
    await vi.advanceTimersByTimeAsync(500);
    bench.sent[0]?.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(bench.sent[4]?.timeoutMs).toBe(100);
    bench.sent[4]?.answer();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lookUp.end).toBe('unknown');
  });

  test('ends at its deadline in the queue, and is not sent', async () => {
    const bench = new Bench();
    bench.occupy();
    const [hasty, patient] = [bench.lookUp('a', 300), bench.lookUp('b', 20_000)];
    await vi.advanceTimersByTimeAsync(350);
    expect(hasty.end).toMatchObject({ phase: 'not-sent', reason: 'deadline' });
    bench.sent[0]?.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(bench.sent[4]?.keys).toBe('b');
    bench.sent[4]?.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(patient.end).toBe('unknown');
  });

  test('in flight ends at its deadline, although another one of its batch has a later deadline', async () => {
    const bench = new Bench();
    bench.occupy();
    const [hasty, patient] = [bench.lookUp('a', 300), bench.lookUp('b', 20_000)];
    bench.sent[0]?.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(bench.sent[4]?.timeoutMs).toBe(20_000);
    await vi.advanceTimersByTimeAsync(350);
    expect(hasty.end).toMatchObject({ phase: 'in-flight', reason: 'deadline' });
    expect(patient.end).toBeUndefined();
    bench.sent[4]?.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(patient.end).toBe('unknown');
  });

  test('that the server refuses, or whose row cannot be decoded, fails alone', async () => {
    const bench = new Bench();
    bench.occupy();
    const lookUps = ['a', 'b', 'c', 'd', 'e'].map((key) => bench.lookUp(key, 20_000));
    bench.sent[0]?.answer();
    await vi.advanceTimersByTimeAsync(0);
    const refusal = new DriverFailure('invalid byte sequence', { phase: 'answered', sqlState: '22021' });
    const unreadable = new Error('unreadable');
    for (let index = 4; index < bench.sent.length; index += 1) {
      const { keys, answer, fail } = bench.sent[index] ?? {};
      if (keys?.includes('d') === true) fail?.(refusal);
      else if (keys?.includes('a') === true) fail?.(unreadable);
      else answer?.();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(lookUps.map(({ end }) => end)).toEqual([unreadable, 'unknown', 'unknown', refusal, 'unknown']);
  });

  test('ends with the error of its batch after a lost connection, without a split', async () => {
    const bench = new Bench();
    bench.occupy();
    const lookUps = ['a', 'b'].map((key) => bench.lookUp(key, 20_000));
    bench.sent[0]?.answer();
    await vi.advanceTimersByTimeAsync(0);
    const lost = new DriverFailure('connection lost', { phase: 'in-flight' });
    bench.sent[4]?.fail(lost);
    await vi.advanceTimersByTimeAsync(0);
    expect(lookUps.map(({ end }) => end)).toEqual([lost, lost]);
    expect(bench.sent).toHaveLength(5);
  });
});
