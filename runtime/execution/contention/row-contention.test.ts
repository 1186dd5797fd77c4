import { expect, test } from 'vitest';
import { systemEnvironment } from '../../concurrency/execution-environment.js';
import { RowContention } from './row-contention.js';

const ROWS = ['Account/a'];

/** A clock on which the test wakes the sleepers. */
function bench(): { contention: RowContention; pass: (milliseconds: number) => Promise<void> } {
  const sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];
  let nowMs = 0;
  const contention = new RowContention({
    ...systemEnvironment(),
    nowMs: () => nowMs,
    random: () => 1,
    sleep: (milliseconds) =>
      new Promise((wake) => void sleepers.push({ untilMs: nowMs + milliseconds, wake })),
  });
  const pass = async (milliseconds: number): Promise<void> => {
    nowMs += milliseconds;
    for (const { untilMs, wake } of sleepers) if (untilMs <= nowMs) wake();
    await new Promise(setImmediate);
  };
  return { contention, pass };
}

test('executions wait for a row that is left until its turn is over, and for no other', async () => {
  const { contention, pass } = bench();
  expect(contention.obstacle(ROWS)).toBeUndefined();
  const turnMs = contention.leave(ROWS);
  const obstacle = contention.obstacle(ROWS);
  expect(obstacle).toBeDefined();
  expect(contention.obstacle(['Account/b'])).toBeUndefined();
  await pass(turnMs);
  await obstacle;
  expect(contention.obstacle(ROWS)).toBeUndefined();
  expect(contention.size).toBe(0);
});

test('further reports of the same loss do not extend the turn', async () => {
  const { contention, pass } = bench();
  const turnMs = contention.leave(ROWS);
  await pass(turnMs / 2);
  expect(contention.leave(ROWS)).toBe(turnMs / 2);
});

test('a row that is lost again after its turn is left for another turn', async () => {
  const { contention, pass } = bench();
  await pass(contention.leave(ROWS));
  expect(contention.leave(ROWS)).toBeGreaterThan(0);
});
