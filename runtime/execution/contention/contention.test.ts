import { describe, expect, test } from 'vitest';
import { systemEnvironment } from '../../concurrency/execution-environment.js';
import { planOf } from '../../persistence/test-support/plans.js';
import { type Admission, Contention, checkedRows } from './contention.js';
import { RowContention } from './row-contention.js';
import { Turns } from './turns.js';

const { items } = planOf('a1>2');
const rows = checkedRows(items);

function enter(contention: Contention): Promise<Admission> {
  expect(contention.begin()).toBe(true);
  return contention.enter((others) => others);
}

class Process {
  readonly #rowContention = new RowContention({ ...systemEnvironment(), sleep: () => Promise.resolve() });
  readonly turns: Turns = new Turns();

  execution(chaining = true): Contention {
    return new Contention({ turns: this.turns, rowContention: this.#rowContention, params: {}, chaining });
  }
}

describe('executions of a process that has lost a row', () => {
  test('wait for the probe, and continue when the probe was applied', async () => {
    const process = new Process();
    const [first, second] = [process.execution(), process.execution()];
    first.stale(rows);
    second.held(rows);
    const probe = await enter(first);
    const follower = enter(second);
    expect([first.isProbe, first.isHeld(items)]).toEqual([true, false]);
    expect(process.execution().isHeld(items)).toBe(true);
    first.won(items, false);
    probe.answered();
    await follower;
    expect([second.isProbe, second.isHeld(items)]).toEqual([false, false]);
  });

  test('wait until their deadline at most, and leave the row to others', async () => {
    const process = new Process();
    const [first, second, third] = [process.execution(), process.execution(), process.execution()];
    first.stale(rows);
    second.held(rows);
    third.held(rows);
    const probe = await enter(first);
    const outOfTime = new Error('out of time');
    second.begin();
    await expect(second.enter(() => Promise.reject(outOfTime))).rejects.toBe(outOfTime);
    probe.answered();
    await enter(third);
    expect(third.isProbe).toBe(true);
  });

  test('probe once: the next attempt is a normal one', async () => {
    const process = new Process();
    const first = process.execution();
    first.stale(rows);
    (await enter(first)).answered();
    expect(first.begin()).toBe(false);
    expect(first.isProbe).toBe(false);
  });
});

test('a probe that gives up while it waits for a turn lets another execution probe the row', async () => {
  const process = new Process();
  const [first, second] = [process.execution(), process.execution()];
  first.superseded(items);
  first.stale(rows);
  const release = await process.turns.take(rows);
  const outOfTime = new Error('out of time');
  first.begin();
  await expect(first.enter(() => Promise.reject(outOfTime))).rejects.toBe(outOfTime);
  release();
  second.held(rows);
  await enter(second);
  expect(second.isProbe).toBe(true);
});

test('an execution that does not chain takes turns at the row instead', async () => {
  const process = new Process();
  const execution = process.execution(false);
  expect(execution.stale(rows)).toBe(0);
  const admission = await enter(execution);
  expect(execution.isProbe).toBe(false);
  admission.sealed();
});

test.each([true, false])(
  'an execution that was superseded takes a turn at the row, chaining or not',
  async (chaining) => {
    const process = new Process();
    const execution = process.execution(chaining);
    execution.superseded(items);
    const admission = await enter(execution);
    expect(process.turns.isContended(rows[0] ?? '')).toBe(true);
    expect(process.execution().isHeld(items)).toBe(false);
    admission.sealed();
  },
);

test('a row that another process had locked is left to that process, unless a probe was applied', async () => {
  const process = new Process();
  process.execution(false).won(items, true);
  expect(process.execution().isHeld(items)).toBe(false);
  process.execution().won(items, true);
  expect(process.execution().isHeld(items)).toBe(true);
  const probe = process.execution();
  probe.held(rows);
  await enter(probe);
  probe.won(items, true);
  expect(process.execution().isHeld(items)).toBe(false);
});
