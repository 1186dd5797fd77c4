import { beforeEach, expect, test } from 'vitest';
import type { LogCursor, LoggedEvent } from '../log/event-record.js';
import type { LogPage } from '../log/log-reader.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import type { CountedAttempts } from './counted-attempts.js';
import type { LeasedLoop } from './leased-loop.js';
import { LogSource } from './log-source.js';

const POLL_MS = 1_000;
const PAGE = 2;

/** A log of events by position. */
class Log {
  length = 5;
  failure: Error | undefined;
  reads = 0;

  async read(_: unknown, { position }: LogCursor, limit: number): Promise<LogPage> {
    this.reads += 1;
    if (this.failure !== undefined) throw this.failure;
    const end = Math.min(position + limit, this.length);
    const at = (each: number): LogCursor => ({ epoch: 1, transactionId: '1', position: each });
    const positions = Array.from({ length: end - position }, (_, index) => position + index + 1);
    const events = positions.map((each) => ({ cursor: at(each) }) as LoggedEvent);
    const more = positions.length === limit;
    return { events, next: at(end), more, pending: false, ended: false, serverRun: 'run' };
  }
}

let log: Log;
let source: LogSource;

beforeEach(() => {
  log = new Log();
  const options = {
    reader: log,
    selection: {},
    consumer: { cursor: { epoch: 1, transactionId: '0', position: 0 }, serverRun: 'run' },
    attempts: { isTooNew: () => false },
    pollMs: () => POLL_MS,
  };
  const counted = { read: () => {}, caughtUp: () => {} };
  // The parts of a consumer's run that its source uses.
  source = new LogSource(
    options as unknown as ConsumerRunOptions,
    {} as unknown as LeasedLoop,
    counted as unknown as CountedAttempts,
  );
});

async function positions(isAhead = true): Promise<readonly number[]> {
  return (await source.read(PAGE, isAhead)).map(({ cursor }) => cursor.position);
}

test('reads the next page while the events of one are handled, if it may', async () => {
  expect(await positions(false)).toEqual([1, 2]);
  expect(log.reads).toBe(1);
  expect(await positions()).toEqual([3, 4]);
  expect(log.reads).toBe(3);
  expect(source.cursor.position).toBe(4);
  expect(await positions()).toEqual([5]);
  expect([log.reads, source.quietMs]).toEqual([3, POLL_MS]);
});

test('does not take a page for the end of the log if events were committed after it was read', async () => {
  log.length = 3;
  await positions();
  log.length = 4;
  source.woken();
  expect(await positions()).toEqual([3]);
  expect(source.quietMs).toBe(0);
  expect(await positions()).toEqual([4]);
  expect(source.quietMs).toBe(POLL_MS);
});

test('reads again from a cursor, without the page that was read ahead', async () => {
  await positions();
  source.rewind({ epoch: 1, transactionId: '1', position: 1 });
  expect(await positions()).toEqual([2, 3]);
});

test('reports a failure to read ahead when the page is needed, and then reads it again', async () => {
  log.failure = new Error('no connection');
  await expect(positions()).rejects.toThrow('no connection');
  log.failure = undefined;
  await positions();
  log.failure = new Error('no connection');
  await positions();
  // Node ends a process for a rejected promise that has no listener by now.
  await new Promise(setImmediate);
  await expect(positions()).rejects.toThrow('no connection');
  log.failure = undefined;
  expect(await positions()).toEqual([5]);
});
