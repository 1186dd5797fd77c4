import { afterEach, expect, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ClockWatch, clockSkewMs } from './clock-watch.js';
import type { ShardDatabase } from './shard-database.js';

const HERE = ShardIdentifier.of(0, 0);
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

test('A clock that differs by more than the limit is reported once, and once when it agrees again', async () => {
  let skewMs = 0;
  const database = databaseOf(() => skewMs);
  const [warned, informed]: [string[], string[]] = [[], []];
  const watch = new ClockWatch({
    databases: { database: () => database },
    shards: () => [HERE],
    warn: (message) => warned.push(message),
    inform: (message) => informed.push(message),
  });
  await watch.round();
  skewMs = 5_000;
  await watch.round();
  expect([warned, watch.skewsMs.get(HERE)]).toEqual([[], 4_950]);
  skewMs = -7_000;
  await watch.round();
  await watch.round();
  expect(watch.skewsMs.get(HERE)).toBe(-6_950);
  expect(warned).toEqual([
    'The clock of this process is 6950 ms behind that of shard (0, 0), more than 5000 ms: synchronise both (NTP)',
  ]);
  skewMs = 0;
  await watch.round();
  expect(warned).toHaveLength(1);
  expect(informed).toEqual(['The clock of this process agrees again with that of shard (0, 0)']);
});
