import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, Rows, ShardDatabase, Statement } from '../../sharding/shard-database.js';
import { KeyReader } from './key-reader.js';

/** One statement under way. */
interface SentLookUp {
  /** The keys that it looks up, as text. */
  readonly keys: string;
  readonly timeoutMs: number | undefined;
  /** Answers that no key is known. */
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

  /** What becomes of a look-up: `unknown`, the error, or undefined as long as it waits. */
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

  /** As many statements as may be under way: what is looked up from now on waits. */
  occupy(timeoutMs?: number): void {
    for (const key of ['1', '2', '3', '4']) this.lookUp(key, timeoutMs);
  }
}

describe('a look-up', () => {
  // One clock for all: what watches the deadlines of the process keeps its timer.
  beforeAll(() => {
    vi.useFakeTimers();
  });

  afterAll(() => {
    vi.useRealTimers();
  });

  test('alone goes at once, with all of its time, or with that of the data source', () => {
    const bench = new Bench();
    bench.lookUp('a', 600);
    bench.lookUp('b');
    expect(bench.sent.map(({ timeoutMs }) => timeoutMs)).toEqual([600, undefined]);
  });

  test('that has waited has only the rest of its time', async () => {
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

  test('ends at its deadline under way, though a more patient one travels with it', async () => {
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

  test('that the server cannot take, or whose row cannot be read, fails alone', async () => {
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

  test('that splitting the batch cannot avoid is passed on as it is', async () => {
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
