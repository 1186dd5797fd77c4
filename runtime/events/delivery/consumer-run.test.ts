import { expect, test, vi } from 'vitest';
import { HeldLease } from '../../concurrency/held-lease.js';
import { type LogPage, LogReader } from '../log/log-reader.js';
import { type Attempts, OtherReleaseNeeded } from './attempts.js';
import { ConsumerRun } from './consumer-run.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import { ConsumerStore } from './consumer-store.js';
import { LeasedLoop } from './leased-loop.js';
import { ParkingStore } from './parking-store.js';

const LEASE = { name: 'Mirror', holder: 'process', fence: '1' };
const START = { epoch: 1, transactionId: '0', position: 0 };
const SERVER_RUN = '1/now';

/** Answers every statement with no rows. */
const NO_ROWS = { query: () => Promise.resolve({ rows: [] }) } as never;

function eventOf(id: string, modelId: string, cursor: LogPage['next']): LogPage['events'][number] {
  return {
    id,
    cursor,
    actionId: '',
    namespace: '',
    modelId,
    modelName: 'Account',
    modelVersion: 1,
    eventType: 'Opened',
    eventVersion: 1,
    payload: {},
    createdDate: '',
    traceContext: null,
    action: null,
  };
}

/** A log without an end, each event of another model. */
class EndlessLog extends LogReader {
  count = 0;

  constructor() {
    super(NO_ROWS, NO_ROWS);
  }

  override async read(_selection: unknown, cursor: LogPage['next'], limit: number): Promise<LogPage> {
    const events = Array.from({ length: limit }, () => {
      this.count += 1;
      return eventOf(String(this.count), String(this.count), cursor);
    });
    return { events, next: cursor, more: true, pending: false, ended: false, serverRun: SERVER_RUN };
  }
}

const ATTEMPTS: Attempts = {
  isTooNew: () => false,
  handle: () => undefined,
  isPassing: () => false,
  isLast: () => true,
  pauseMs: () => 0,
  passingPauseMs: () => 0,
};

function runOn(
  reader: LogReader,
  attempts: Attempts,
  readAhead?: number,
  letters: ParkingStore = new ParkingStore(NO_ROWS),
): LeasedLoop {
  const consumer = {
    lease: LEASE,
    identity: 'Mirror',
    cursor: START,
    replay: undefined,
    serverRun: SERVER_RUN,
    stuck: false,
    attempts: {},
    died: [],
    selects: [],
  };
  const options: ConsumerRunOptions = {
    consumer,
    attempts,
    selection: {},
    concurrency: 8,
    readAhead,
    ages: undefined,
    context: { identity: 'Mirror', again: undefined, replayed: false },
    reader,
    consumers: new ConsumerStore(NO_ROWS),
    letters,
    pollMs: () => 1,
    warn: () => undefined,
  };
  const lease = new HeldLease(LEASE, performance.now(), 60_000);
  return new LeasedLoop(
    lease,
    (loop) => new ConsumerRun(options, loop),
    () => undefined,
  );
}

test.each([
  [500, 1_000],
  [1_500, 2_000],
  [undefined, 4_000],
])('While no event is handled, a consumer with read-ahead %s has read %i events', async (readAhead, read) => {
  const reader = new EndlessLog();
  const never = new Promise<void>(() => undefined);
  let rounds = 0;
  const obstacle = (): undefined => {
    rounds += 1;
  };
  const loop = runOn(reader, { ...ATTEMPTS, obstacle, handle: () => never }, readAhead);
  await vi.waitUntil(() => rounds > 20, { timeout: 30_000 });
  expect(reader.count).toBe(read);
  await loop.stop(0);
});

/** Two pages. */
class TwoPages extends LogReader {
  readonly #asked: () => void;
  readonly #second: Promise<void>;
  #reads = 0;

  /** @param asked called when the second page is requested, which arrives after `second` */
  constructor(asked: () => void, second: Promise<void>) {
    super(NO_ROWS, NO_ROWS);
    this.#asked = asked;
    this.#second = second;
  }

  override async read(_selection: unknown, cursor: LogPage['next']): Promise<LogPage> {
    this.#reads += 1;
    const isFirst = this.#reads === 1;
    if (!isFirst) this.#asked();
    if (!isFirst) await this.#second;
    const at = (position: number) => ({ ...cursor, position });
    const events = isFirst
      ? [eventOf('first', 'waits', at(1)), eventOf('other', 'free', at(2))]
      : [eventOf('second', 'waits', at(3))];
    const next = at(this.#reads * 2);
    return { events, next, more: true, pending: false, ended: false, serverRun: SERVER_RUN };
  }
}

test('A model that needs another release keeps its order and its place, and the run ends when others are done', async () => {
  const seen: string[] = [];
  const asked = gate();
  const second = gate();
  const handle = async ({ id }: { readonly id: string }): Promise<void> => {
    seen.push(id);
    if (id !== 'first') return;
    await asked.opened;
    setTimeout(second.open);
    throw new OtherReleaseNeeded('it is in another step');
  };
  const loop = runOn(new TwoPages(asked.open, second.opened), { ...ATTEMPTS, handle });
  // A statement that saved a checkpoint would find no lease, and the run would end as lost.
  expect(await loop.ended).toEqual({ kind: 'waiting', reason: 'it is in another step' });
  expect(seen).toEqual(['first', 'other']);
});

/** One event, and after it pages of events that the consumer does not select. */
class OneEvent extends LogReader {
  count = 0;

  constructor() {
    super(NO_ROWS, NO_ROWS);
  }

  override async read(_selection: unknown, cursor: LogPage['next']): Promise<LogPage> {
    this.count += 1;
    await new Promise((resolve) => setImmediate(resolve));
    const next = { ...cursor, position: this.count };
    const events = this.count === 1 ? [eventOf('1', '1', next)] : [];
    return { events, next, more: true, pending: false, ended: false, serverRun: SERVER_RUN };
  }
}

test('An event that waits for its next attempt is not given up because of events of other classes', async () => {
  const reader = new OneEvent();
  const fails = (): void => {
    throw new Error('not yet');
  };
  const loop = runOn(reader, { ...ATTEMPTS, handle: fails, isLast: () => false, pauseMs: () => 600_000 });
  // The statement that would park the event finds no lease, and the run would end as lost.
  await vi.waitUntil(() => reader.count > 5_000 || loop.state === 'ended', { timeout: 30_000 });
  expect(loop.state).toBe('working');
  await loop.stop(0);
});

/** A parking table with the models of the first events of `EndlessLog`, which takes no more events for now. */
class ManyModels extends ParkingStore {
  reads = 0;

  constructor() {
    super(NO_ROWS);
  }

  override async parkedModels(): Promise<readonly { readonly key: string; readonly retry: boolean }[]> {
    this.reads += 1;
    return Array.from({ length: 20_000 }, (_, index) => ({ key: `Account/${index + 1}`, retry: false }));
  }

  override async park(): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return true;
  }
}

test('Many parked models do not block the process while it looks for retries', async () => {
  const letters = new ManyModels();
  const loop = runOn(new EndlessLog(), ATTEMPTS, undefined, letters);
  let [longestMs, lastMs] = [0, performance.now()];
  await vi.waitUntil(
    () => {
      const now = performance.now();
      [longestMs, lastMs] = [Math.max(longestMs, now - lastMs), now];
      return letters.reads === 2;
    },
    { timeout: 30_000, interval: 5 },
  );
  await loop.stop(0);
  expect(longestMs).toBeLessThan(500);
});

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
