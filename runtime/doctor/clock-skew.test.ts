import { afterEach, expect, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { clockSkewMs } from './clock-skew.js';

const NOW = Date.UTC(2026, 0, 1);
let restore = (): void => {};

afterEach(() => restore());

/** A database whose clock is right, and whose answers take 100 ms on the clock of this process. */
function databaseOf(skewMs: () => number): Pick<ShardDatabase, 'query'> {
  let passedMs = 0;
  restore = useTime({ dateMs: () => NOW + passedMs + skewMs() });
  return {
    query: async () => {
      const answer = { command: 'SELECT', columns: [], rows: [[new Date(NOW + passedMs + 50)]], rowCount: 1 };
      passedMs += 100;
      return answer;
    },
  };
}

test('The skew of a clock is what the round trip does not explain', async () => {
  let skewMs = 0;
  const database = databaseOf(() => skewMs);
  expect(await clockSkewMs(database)).toBe(0);
  skewMs = 7_200_000;
  expect(await clockSkewMs(database)).toBe(7_200_000 - 50);
  skewMs = -600_000;
  expect(await clockSkewMs(database)).toBe(-600_000 + 50);
});
