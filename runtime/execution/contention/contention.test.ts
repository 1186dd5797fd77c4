import { describe, expect, test } from 'vitest';
import { systemEnvironment } from '../../concurrency/execution-environment.js';
import { idOf, planOf } from '../../persistence/test-support/plans.js';
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
  readonly #rowContention = new RowContention({
    ...systemEnvironment(),
    random: () => 1,
    sleep: () => Promise.resolve(),
  });
  readonly turns: Turns = new Turns();

  execution(chaining = true, params: object = {}): Contention {
    return new Contention({ turns: this.turns, rowContention: this.#rowContention, params, chaining });
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

/** What the next attempt of an execution does, by the outcome of its attempt and whether it chains. */
const NEXT_ATTEMPTS = [
  ['superseded', true, 'takes a turn'],
  ['superseded', false, 'takes a turn'],
  ['stale', true, 'waits and probes'],
  ['stale', false, 'takes a turn'],
  ['held', true, 'waits and probes'],
  ['held', false, 'waits and probes'],
] as const;

test.each(NEXT_ATTEMPTS)(
  'after `%s` with chaining = %s, the next attempt %s',
  async (outcome, chaining, does) => {
    const process = new Process();
    if (outcome === 'held') process.execution().stale(rows);
    const execution = process.execution(chaining);
    if (outcome === 'superseded') execution.superseded(items);
    else execution[outcome](rows);
    const admission = await enter(execution);
    expect(execution.isProbe).toBe(does === 'waits and probes');
    expect(process.turns.isContended(rows[0] ?? '')).toBe(does === 'takes a turn');
    admission.sealed();
    admission.answered();
  },
);

/** Whether other executions leave the row afterwards, by chaining, a rival's lock, and whether it was a probe. */
const WON = [
  [true, false, false, false],
  [true, true, false, true],
  [true, true, true, false],
  [true, false, true, false],
  [false, true, false, false],
  [false, false, false, false],
] as const;

test.each(WON)(
  'after `won` with chaining = %s, locked by a rival = %s and probe = %s: the row is left = %s',
  async (chaining, locked, probe, left) => {
    const process = new Process();
    const execution = process.execution(chaining);
    if (probe) {
      execution.stale(rows);
      await enter(execution);
      expect(execution.isProbe).toBe(true);
    }
    execution.won(items, locked);
    expect(process.execution().isHeld(items)).toBe(left);
  },
);

test('a probe that has lost the row leaves it for a shorter time', async () => {
  const process = new Process();
  const probe = process.execution();
  const firstMs = probe.stale(rows);
  await enter(probe);
  expect(probe.isProbe).toBe(true);
  expect(probe.stale(rows)).toBeLessThan(firstMs / 2);
});

test('only an execution that chains leaves a row to another process', () => {
  const process = new Process();
  process.execution().stale(rows);
  expect([process.execution(true).isHeld(items), process.execution(false).isHeld(items)]).toEqual([
    true,
    false,
  ]);
});

test('an execution takes a turn at a contended row whose id is among its params', async () => {
  const process = new Process();
  const first = process.execution();
  first.superseded(items);
  const turn = await enter(first);
  const [second, other] = [
    process.execution(true, { id: idOf('a') }),
    process.execution(true, { id: idOf('b') }),
  ];
  await enter(other);
  let hasEntered = false;
  const entered = enter(second).then(() => {
    hasEntered = true;
  });
  await new Promise(setImmediate);
  expect(hasEntered).toBe(false);
  turn.sealed();
  await entered;
});
