import { expect, test } from 'vitest';
import { type Backoff, backoffMs } from './backoff.js';

const BACKOFF: Backoff = { firstMs: 10, longestMs: 70 };

function range(failures: number, backoff: Backoff): readonly number[] {
  return [backoffMs(failures, backoff, 0), backoffMs(failures, backoff, 1)];
}

test('the maximum pause doubles with each failure up to a limit', () => {
  expect([1, 2, 3, 4, 2_000].map((failures) => range(failures, BACKOFF)[1])).toEqual([10, 20, 40, 70, 70]);
});

test.each([
  [undefined, 0],
  [5, 5],
  ['half', 20],
] as const)('the shortest pause with least %s is %s of 40 milliseconds', (least, shortestMs) => {
  expect(range(3, least === undefined ? BACKOFF : { ...BACKOFF, least })).toEqual([shortestMs, 40]);
});
