import { expect, test } from 'vitest';
import { inParallel } from './in-parallel.js';

test('works on each item in order, on a limited number at a time', async () => {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const done = inParallel([1, 2, 3, 4, 5], 2, (item) => {
    begun.push(item);
    return new Promise<void>((resolve) => ends.push(resolve));
  });
  expect(begun).toEqual([1, 2]);
  for (let ended = 0; ended < 5; ended += 1) {
    ends[ended]?.();
    await new Promise(setImmediate);
    expect(begun.length).toBe(Math.min(5, ended + 3));
  }
  await done;
  expect(begun).toEqual([1, 2, 3, 4, 5]);
});

test('rejects with the first failure', async () => {
  const failure = new Error('third');
  const work = async (item: number): Promise<void> => {
    if (item === 3) throw failure;
  };
  await expect(inParallel([1, 2, 3, 4], 2, work)).rejects.toBe(failure);
});

test('ends at once without items', async () => {
  await inParallel([], 4, () => Promise.reject(new Error('never called')));
});
