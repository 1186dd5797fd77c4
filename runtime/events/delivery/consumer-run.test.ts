import { expect, test, vi } from 'vitest';
import { DeadLetterStore } from '../dead-letters/dead-letter-store.js';
import { type LogPage, LogReader } from '../log/log-reader.js';
import { ConsumerRun } from './consumer-run.js';
import { ConsumerStore } from './consumer-store.js';
import { HeldLease } from './held-lease.js';
import { LeasedLoop } from './leased-loop.js';

const LEASE = { name: 'Mirror', holder: 'process', fence: '1' };
const START = { epoch: 1, transactionId: '0', position: 0 };
const SERVER_RUN = '1/now';

/** Answers every statement with no rows. */
const NO_ROWS = { query: () => Promise.resolve({ rows: [] }) } as never;

/** A log without an end, each event of another model. */
class EndlessLog extends LogReader {
  count = 0;

  constructor() {
    super(NO_ROWS, NO_ROWS);
  }

  override async read(_selection: unknown, cursor: LogPage['next'], limit: number): Promise<LogPage> {
    const events = Array.from({ length: limit }, () => {
      this.count += 1;
      return {
        id: String(this.count),
        cursor,
        actionId: '',
        namespace: '',
        modelId: String(this.count),
        modelName: 'Account',
        modelVersion: 1,
        eventType: 'Opened',
        eventVersion: 1,
        payload: {},
        createdDate: '',
        traceContext: null,
        action: null,
      };
    });
    return { events, next: cursor, more: true, pending: false, ended: false, serverRun: SERVER_RUN };
  }
}

test.each([
  [500, 1_000],
  [1_500, 2_000],
  [undefined, 4_000],
])('While no event is handled, a consumer with read-ahead %s has read %i events', async (readAhead, read) => {
  const reader = new EndlessLog();
  const never = new Promise<void>(() => undefined);
  let rounds = 0;
  const loop = new LeasedLoop(
    new HeldLease(LEASE, performance.now(), 60_000),
    (made) =>
      new ConsumerRun(
        {
          consumer: {
            lease: LEASE,
            identity: 'Mirror',
            cursor: START,
            replay: undefined,
            serverRun: SERVER_RUN,
            stuck: false,
            suspects: {},
            selects: [],
          },
          attempts: {
            obstacle: () => {
              rounds += 1;
              return undefined;
            },
            isTooNew: () => false,
            handle: () => never,
            isPassing: () => false,
            isLast: () => true,
            pauseMs: () => 0,
            passingPauseMs: () => 0,
          },
          selection: {},
          concurrency: 8,
          readAhead,
          context: { identity: 'Mirror', again: undefined, replayed: false },
          reader,
          consumers: new ConsumerStore(NO_ROWS),
          letters: new DeadLetterStore(NO_ROWS),
          pollMs: () => 1,
          warn: () => undefined,
        },
        made,
      ),
    () => undefined,
  );
  await vi.waitUntil(() => rounds > 20, { timeout: 30_000 });
  expect(reader.count).toBe(read);
  await loop.stop(0);
});
