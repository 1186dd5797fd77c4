import { expect, test } from 'vitest';
import { atMost, within } from './at-most.js';

const never = new Promise<string>(() => {});

test('within settles as the work does', async () => {
  const failure = new Error('failed');
  const late = (): string => 'late';
  expect(await within(Promise.resolve('done'), 60_000, late)).toBe('done');
  await expect(within(Promise.reject(failure), 60_000, late)).rejects.toBe(failure);
});

test('within takes the other value, or its error, when the time is over', async () => {
  const failure = new Error('too late');
  const fail = (): string => {
    throw failure;
  };
  expect(await within(never, 1, () => 'late')).toBe('late');
  await expect(within(never, 1, fail)).rejects.toBe(failure);
});

test('atMost ends with the work or with the time', async () => {
  await atMost(Promise.resolve(), 60_000);
  await atMost(never, 1);
});
