import { expect, onTestFinished, test } from 'vitest';
import { NO_SLOT } from '../collections/transient-set.js';
import { Deadlines, type Wait } from './deadlines.js';
import { type Timer, useTime } from './time.js';

test('a wait that another wait’s expiry has ended does not expire', async () => {
  const deadlines = new Deadlines();
  const ended: string[] = [];
  const due = performance.now();
  const waits: Wait[] = ['one', 'other'].map((name) => ({
    deadline: due,
    slot: NO_SLOT,
    expire: () => {
      ended.push(name);
      for (const wait of waits) deadlines.forget(wait);
    },
  }));
  for (const wait of waits) deadlines.watch(wait);
  await new Promise<void>((resolve) => {
    deadlines.watch({ deadline: due + 1, slot: NO_SLOT, expire: resolve });
  });
  expect(ended).toHaveLength(1);
});

test('a race ends with its work, or at its deadline', async () => {
  const deadlines = new Deadlines();
  const late = (): Error => new Error('late');
  const far = performance.now() + 60_000;
  expect(await deadlines.race(Promise.resolve(1), far, late)).toBe(1);
  await expect(deadlines.race(Promise.reject(new Error('failed')), far, late)).rejects.toThrow('failed');
  await expect(deadlines.race(new Promise(() => {}), performance.now() + 5, late)).rejects.toThrow('late');
});

test('a race uses the clock of `useTime`', async () => {
  let nowMs = 1_000_000_000;
  let sweep = (): void => {};
  const timer: Timer = { unref: () => timer };
  const restore = useTime({
    nowMs: () => nowMs,
    setInterval: (work) => {
      sweep = work;
      return timer;
    },
    clearInterval: () => {},
    setImmediate: (work) => work(),
  });
  onTestFinished(() => void restore());
  const ends: string[] = [];
  const race = new Deadlines().race(new Promise(() => {}), nowMs + 25, () => new Error('late'));
  const ended = race.catch(({ message }: Error) => void ends.push(message));
  const turn = async (passedMs: number): Promise<void> => {
    nowMs += passedMs;
    sweep();
    // By the next turn, the callbacks of a settled promise have run.
    await new Promise((resolve) => setImmediate(resolve));
  };
  await turn(10);
  await turn(10);
  expect(ends).toEqual([]);
  await turn(10);
  expect(ends).toEqual(['late']);
  await ended;
});
