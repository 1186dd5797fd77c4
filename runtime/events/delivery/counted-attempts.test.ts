import { expect, test } from 'vitest';
import { HeldLease } from '../../concurrency/held-lease.js';
import type { Attempts } from './attempts.js';
import { ConsumerStore, type LeasedConsumer } from './consumer-store.js';
import { CountedAttempts, HandlerDied } from './counted-attempts.js';
import { LeasedLoop } from './leased-loop.js';

const LEASE = { name: 'Mirror', holder: 'process', fence: '1' };
const START = { epoch: 1, transactionId: '0', position: 0 };
const MAXIMUM = 3;

const ATTEMPTS: Attempts = {
  isTooNew: () => false,
  handle: () => undefined,
  judge: (error, { attempts }) => {
    if (error === 'passing') return { kind: 'pass', pauseMs: 1, cause: 'elsewhere' };
    return attempts + 1 >= MAXIMUM ? { kind: 'park' } : { kind: 'retry', pauseMs: 10 };
  },
};

/** Attempts of a holder that took over. @param answers whether each statement finds the lease; then all do */
function takenOver(state: Partial<LeasedConsumer>, answers: boolean[] = []) {
  const stored: unknown[] = [];
  const query = async ({ values }: { readonly values: readonly unknown[] }) => {
    stored.push(JSON.parse(String(values[3])));
    return { rows: [], rowCount: answers.shift() === false ? 0 : 1 };
  };
  const consumer: LeasedConsumer = {
    ...{ lease: LEASE, identity: 'Mirror', cursor: START, replay: undefined, serverRun: '1/now' },
    ...{ stuck: false, attempts: {}, died: [], selects: [], ...state },
  };
  const idle = { round: () => loop.wakeUp.wait(60_000), close: async () => {} };
  const loop: LeasedLoop = new LeasedLoop(
    new HeldLease(LEASE, performance.now(), 60_000),
    () => idle,
    () => {},
  );
  const store = new ConsumerStore({ query } as never);
  return {
    counted: new CountedAttempts({ consumers: store, consumer, attempts: ATTEMPTS, warn: () => {} }, loop),
    stored,
    loop,
  };
}

test('a careful holder counts attempts first and makes them one at a time', async () => {
  const { counted, stored, loop } = takenOver({ stuck: true });
  counted.read(2);
  const seen: string[] = [];
  const attempt = (id: string) =>
    counted.attempt(id, { attempts: 0, passed: 0 }, async () => {
      seen.push(`${id} begins`);
      await new Promise((resolve) => setTimeout(resolve));
      seen.push(`${id} ends`);
      return id;
    });
  expect(await Promise.all([attempt('a'), attempt('b')])).toEqual(['a', 'b']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(stored[0]).toEqual({ attempts: { a: 1 }, open: ['a'] });
  counted.caughtUp();
  counted.settled('a');
  expect(counted.isCareful).toBe(true);
  counted.settled('b');
  expect(counted.isCareful).toBe(false);
  await counted.idle();
  expect(stored.at(-1)).toEqual({});
  await loop.stop();
});

test('an attempt that cannot be counted is not made, and does not count', async () => {
  const { counted, loop } = takenOver({ attempts: { a: 1 }, died: ['a'] }, [false]);
  const count = { attempts: 1, passed: 0 };
  expect(await counted.attempt('a', count, () => expect.unreachable())).toBeUndefined();
  expect(counted.of('a')).toBe(1);
  await loop.stop();
});

test('an event is given up for the death of its last attempt only if nothing else was attempted', async () => {
  const alone = takenOver({ attempts: { a: MAXIMUM }, died: ['a'] });
  const count = { attempts: MAXIMUM, passed: 0 };
  const attempt = alone.counted.attempt('a', count, () => expect.unreachable());
  await expect(attempt).rejects.toThrow(HandlerDied);
  expect(alone.counted.failed(new HandlerDied(MAXIMUM), 'a', count)).toEqual({ kind: 'park' });
  expect(count.attempts).toBe(MAXIMUM);
  const beside = takenOver({ attempts: { a: MAXIMUM, b: 1 }, died: ['a', 'b'] });
  expect(await beside.counted.attempt('a', count, async () => 'made')).toBe('made');
  await Promise.all([alone.loop.stop(), beside.loop.stop()]);
});

test('a passing failure does not count', async () => {
  const { counted, loop } = takenOver({ attempts: { a: 2 } });
  const count = { attempts: 2, passed: 0 };
  expect(counted.failed('passing', 'a', count)).toMatchObject({ kind: 'pass', pauseMs: 1 });
  expect([count, counted.of('a')]).toEqual([{ attempts: 2, passed: 1 }, 2]);
  await loop.stop();
});
