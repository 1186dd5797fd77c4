import { expect, test, vi } from 'vitest';
import { HeldLease } from '../../concurrency/held-lease.js';
import { gate } from '../../concurrency/test-support/gate.js';
import { modelKeyOf } from '../log/event-record.js';
import { type LogPage, LogReader } from '../log/log-reader.js';
import { eventOf } from '../test-support/logged-event.js';
import { type Attempts, OtherReleaseNeeded } from './attempts.js';
import { ConsumerRun } from './consumer-run.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import { ConsumerStore } from './consumer-store.js';
import { LeasedLoop } from './leased-loop.js';
import { ParkingStore, type Settlement } from './parking-store.js';

const LEASE = { name: 'Mirror', holder: 'process', fence: '1' };
const START = { epoch: 1, transactionId: '0', position: 0 };
const SERVER_RUN = '1/now';

/** Answers every statement with no rows. */
const NO_ROWS = { query: () => Promise.resolve({ rows: [] }) } as never;

/** A log whose pages a test makes. A page has no events and is not the last one by default. */
function logOf(
  page: (after: LogPage['next'], limit: number) => Partial<LogPage> | Promise<Partial<LogPage>>,
): LogReader {
  const reader = new LogReader(NO_ROWS);
  const rest = { events: [], more: true, pending: false, ended: false, serverRun: SERVER_RUN };
  reader.read = async (_, after, limit) => ({ ...rest, next: after, ...(await page(after, limit)) });
  return reader;
}

const ATTEMPTS: Attempts = {
  isTooNew: () => false,
  handle: () => undefined,
  judge: () => ({ kind: 'park' }),
};

/** Runs a consumer. Default of its tables: every statement is answered with no rows. */
function run(
  options: Partial<ConsumerRunOptions> & Pick<ConsumerRunOptions, 'reader' | 'attempts'>,
): LeasedLoop {
  const consumer = {
    ...{ lease: LEASE, identity: 'Mirror', cursor: START, replay: undefined, serverRun: SERVER_RUN },
    ...{ stuck: false, attempts: {}, died: [], selects: [] },
  };
  const all: ConsumerRunOptions = {
    consumer,
    selection: {},
    concurrency: 8,
    ages: undefined,
    context: { identity: 'Mirror', again: undefined, replayed: false },
    consumers: new ConsumerStore(NO_ROWS),
    letters: new ParkingStore(NO_ROWS),
    pollMs: () => 1,
    warn: () => undefined,
    ...options,
  };
  const lease = new HeldLease(LEASE, performance.now(), 60_000);
  return new LeasedLoop(
    lease,
    (loop) => new ConsumerRun(all, loop),
    () => undefined,
  );
}

test.each([
  [500, 1_000],
  [1_500, 2_000],
  [undefined, 4_000],
])('While no event is handled, a consumer with read-ahead %s has read %i events', async (readAhead, read) => {
  let count = 0;
  // Each event is one of another model.
  const reader = logOf((after, limit) => ({
    events: Array.from({ length: limit }, () => {
      count += 1;
      return eventOf(String(count), String(count), after);
    }),
  }));
  const never = new Promise<void>(() => undefined);
  const pollMs = vi.fn(() => 1);
  const loop = run({ reader, attempts: { ...ATTEMPTS, handle: () => never }, readAhead, pollMs });
  await vi.waitUntil(() => pollMs.mock.calls.length > 20, { timeout: 30_000 });
  expect(count).toBe(read);
  await loop.stop(0);
});

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
  let reads = 0;
  const reader = logOf(async (after) => {
    reads += 1;
    const at = (position: number) => ({ ...after, position });
    const next = at(reads * 2);
    if (reads === 1)
      return { events: [eventOf('first', 'waits', at(1)), eventOf('other', 'free', at(2))], next };
    asked.open();
    await second.opened;
    return { events: [eventOf('second', 'waits', at(3))], next };
  });
  const loop = run({ reader, attempts: { ...ATTEMPTS, handle } });
  // A statement that saved a checkpoint would find no lease, and the run would end as lost.
  expect(await loop.ended).toEqual({ kind: 'waiting', reason: 'it is in another step' });
  expect(seen).toEqual(['first', 'other']);
});

/** One event, and after it pages of events that the consumer does not select. @param read called for each page */
function oneEvent(read: (count: number) => void = () => {}): LogReader {
  let count = 0;
  return logOf(async (after) => {
    count += 1;
    read(count);
    await new Promise((resolve) => setImmediate(resolve));
    const next = { ...after, position: count };
    return { events: count === 1 ? [eventOf('1', '1', next)] : [], next };
  });
}

test('An event that waits for its next attempt is not given up because of events of other classes', async () => {
  let pages = 0;
  const reader = oneEvent((count) => {
    pages = count;
  });
  const fails = (): void => {
    throw new Error('not yet');
  };
  const judge = () => ({ kind: 'retry', pauseMs: 600_000 }) as const;
  const loop = run({ reader, attempts: { ...ATTEMPTS, handle: fails, judge } });
  // The statement that would park the event finds no lease, and the run would end as lost.
  await vi.waitUntil(() => pages > 5_000 || loop.state === 'ended', { timeout: 30_000 });
  expect(loop.state).toBe('working');
  await loop.stop(0);
});

test.each([
  [
    'a synchronous',
    (error: Error): void => {
      throw error;
    },
  ],
  [
    'an asynchronous',
    async (error: Error): Promise<void> => {
      throw error;
    },
  ],
])('The process stays responsive while %s handler is to be called again at once', async (_kind, fail) => {
  let failures = 0;
  const handle = (): Promise<void> | void => {
    failures += 1;
    // Otherwise a loop without a pause would hang the test.
    if (failures < 100_000) return fail(new Error('later'));
  };
  const loop = run({
    reader: oneEvent(),
    attempts: { ...ATTEMPTS, handle, judge: () => ({ kind: 'pass', pauseMs: 0, cause: 'receiver' }) },
  });
  await vi.waitUntil(() => failures > 0, { timeout: 30_000 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(failures).toBeLessThan(1_000);
  await loop.stop(0);
});

/** A log of this many events of as many models, which ends there. */
function longLog(length: number): LogReader {
  return logOf((after, limit) => {
    const positions = Array.from({ length }, (_, index) => index + 1)
      .slice(after.position)
      .slice(0, limit);
    const events = positions.map((each) => eventOf(String(each), String(each), { ...after, position: each }));
    const next = { ...after, position: positions.at(-1) ?? after.position };
    return { events, next, more: next.position < length };
  });
}

/** A parking table in memory of models with one event, which has their id. None waits behind a failed one. */
class MemoryLetters extends ParkingStore {
  readonly events = new Map<string, LogPage['events'][number]>();

  constructor() {
    super(NO_ROWS);
  }

  override async park(_lease: unknown, parked: Parameters<ParkingStore['park']>[1]): Promise<boolean> {
    for (const { event, failure } of parked) {
      expect(failure).toBeUndefined();
      this.events.set(event.id, event);
    }
    return true;
  }

  override async parkedModels(): Promise<readonly { readonly key: string; readonly retry: boolean }[]> {
    return [...this.events.values()].map((event) => ({ key: modelKeyOf(event), retry: true }));
  }

  override async of(_consumer: string, { modelId }: { readonly modelId: string }) {
    const event = this.events.get(modelId);
    return event === undefined ? [] : [{ event, attempts: 0 }];
  }

  override async settle(_lease: unknown, eventId: string): Promise<Settlement> {
    return this.events.delete(eventId) ? 'settled' : 'gone';
  }
}

/** Stores every checkpoint and all attempts. */
class WillingStore extends ConsumerStore {
  constructor() {
    super(NO_ROWS);
  }

  override checkpoint(): Promise<boolean> {
    return Promise.resolve(true);
  }

  override storeAttempts(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

/** A handler of which every second event needs something that is out of reach while `isDown`. */
function everySecondOutOfReach(
  handled: Set<string>,
  isDown: () => boolean,
  cause: 'receiver' | 'elsewhere',
): Attempts {
  return {
    ...ATTEMPTS,
    handle: ({ id }) => {
      if (Number(id) % 2 === 0 && isDown()) throw new Error('out of reach');
      handled.add(id);
    },
    judge: () => ({ kind: 'pass', pauseMs: 1_000, cause }),
  };
}

test('Models that need a database which is out of reach do not stop the others, and go on when it is back', async () => {
  const handled = new Set<string>();
  const letters = new MemoryLetters();
  let isDown = true;
  const attempts = everySecondOutOfReach(handled, () => isDown, 'elsewhere');
  const reader = longLog(10_000);
  const loop = run({ reader, attempts, letters, consumers: new WillingStore() });
  await vi.waitUntil(() => handled.size === 5_000, { timeout: 60_000 });
  expect(letters.events.size).toBeGreaterThan(1_000);
  isDown = false;
  await vi.waitUntil(() => handled.size === 10_000, { timeout: 60_000 });
  await vi.waitUntil(() => letters.events.size === 0, { timeout: 60_000 });
  await loop.stop(0);
});

test('A model that needs a database which is out of reach does not keep events from another release', async () => {
  const letters = new MemoryLetters();
  const attempts = {
    ...everySecondOutOfReach(new Set(), () => true, 'elsewhere'),
    isTooNew: ({ id }: { readonly id: string }) => id === '4',
  };
  const loop = run({ reader: longLog(10), attempts, letters, consumers: new WillingStore() });
  expect((await loop.ended).kind).toBe('waiting');
  expect([...letters.events.keys()]).toEqual(['2']);
});

test('A handler may throw anything, even an object without a text', async () => {
  const messages: unknown[] = [];
  const letters = new ParkingStore(NO_ROWS);
  letters.park = async (_lease, parked) => {
    messages.push(...parked.map(({ failure }) => failure?.message));
    return true;
  };
  const handle = (): void => {
    throw Object.create(null);
  };
  const attempts = { ...ATTEMPTS, handle };
  const loop = run({ reader: longLog(1), attempts, letters, consumers: new WillingStore() });
  await vi.waitUntil(() => messages.length > 0, { timeout: 10_000 });
  await loop.stop(0);
  expect(messages).toEqual(['[object Object]']);
});

test('All models wait for a receiver that is down', async () => {
  const handled = new Set<string>();
  const letters = new MemoryLetters();
  const pollMs = vi.fn(() => 1);
  const attempts = everySecondOutOfReach(handled, () => true, 'receiver');
  const reader = longLog(10_000);
  const loop = run({ reader, attempts, letters, consumers: new WillingStore(), pollMs });
  // Half of those that are read.
  await vi.waitUntil(() => handled.size >= 2_000, { timeout: 60_000 });
  const before = pollMs.mock.calls.length;
  await vi.waitUntil(() => pollMs.mock.calls.length > before + 20, { timeout: 60_000 });
  expect(handled.size).toBeLessThan(3_000);
  expect(letters.events.size).toBe(0);
  await loop.stop(0);
});

test('The retry of an event that is newer than the process is reported once, and waits', async () => {
  const letters = new MemoryLetters();
  let readings = 0;
  letters.parkedModels = async () => {
    readings += 1;
    return [{ key: modelKeyOf(eventOf('1', '1', START)), retry: true }];
  };
  letters.events.set('1', { ...eventOf('1', '1', START), eventVersion: 2 });
  const attempts = {
    ...ATTEMPTS,
    isTooNew: ({ eventVersion }: { eventVersion: number }) => eventVersion > 1,
  };
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const loop = run({ reader: longLog(0), attempts, letters, consumers: new WillingStore(), warn });
  await vi.waitUntil(() => readings > 1, { timeout: 30_000 });
  await loop.stop(0);
  expect(warnings).toEqual([
    'Account/1 cannot be resumed: event 1 (Opened version 2) is newer than this process knows. ' +
      'A process of a newer release resumes it',
  ]);
  expect([...letters.events.keys()]).toEqual(['1']);
});
