import { expect, test } from 'vitest';
import { backoffMs } from './retry-policy.js';

test('a pause is anything from nothing to a bound that doubles with each attempt', () => {
  expect([1, 2, 3, 4].map((attempt) => backoffMs(attempt, 1))).toEqual([16, 32, 64, 128]);
  expect(backoffMs(3, 0)).toBe(0);
  expect(backoffMs(3, 0.25)).toBe(16);
});

test('no pause is longer than a quarter of a second, however many attempts have failed', () => {
  expect(backoffMs(5, 1)).toBe(250);
  expect(backoffMs(2_000, 1)).toBe(250);
});
