import { expect, test } from 'vitest';
import { systemEnvironment } from '../../concurrency/execution-environment.js';
import { idOf, planOf } from '../../persistence/test-support/plans.js';
import { Contention, checkedRows } from './contention.js';
import { RowContention } from './row-contention.js';
import { RowQueues } from './row-queues.js';

const { items } = planOf('a1>2');
const rows = checkedRows(items);

function enter(contention: Contention): Promise<() => void> {
  expect(contention.begin()).toBe(true);
  return contention.enter((others) => others);
}

const hasEntered = (entered: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    entered.then(() => true),
    new Promise<false>((resolve) => void setImmediate(resolve, false)),
  ]);

class Process {
  readonly #rowContention = new RowContention({
    ...systemEnvironment(),
    random: () => 1,
    sleep: () => Promise.resolve(),
  });
  readonly turns: RowQueues = new RowQueues();

  execution(chaining = true, params: object = {}): Contention {
    return new Contention({ turns: this.turns, rowContention: this.#rowContention, params, chaining });
  }
}

test('executions of a process that has lost a row wait for the end of its turn, until their deadline at most', async () => {
  const process = new Process();
  const [first, second, third] = [process.execution(), process.execution(), process.execution()];
  first.stale(rows, true);
  second.held(rows);
  third.held(rows);
  expect(process.execution().isHeld(items)).toBe(true);
  const outOfTime = new Error('out of time');
  second.begin();
  await expect(second.enter(() => Promise.reject(outOfTime))).rejects.toBe(outOfTime);
  await enter(first);
  await enter(third);
  expect([first.isHeld(items), third.isHeld(items)]).toEqual([false, false]);
  expect(first.begin()).toBe(false);
});

/** What the next attempt of an execution does, by the outcome of its attempt and whether others can see its states. */
const NEXT_ATTEMPTS = [
  ['superseded', true, 'takes a turn'],
  ['superseded', false, 'takes a turn'],
  ['stale', true, 'waits'],
  ['stale', false, 'takes a turn'],
  ['held', true, 'waits'],
  ['held', false, 'waits'],
] as const;

test.each(NEXT_ATTEMPTS)(
  'after `%s` (seen by others: %s), the next attempt %s',
  async (outcome, isVisible, does) => {
    const process = new Process();
    if (outcome === 'held') process.execution().stale(rows, true);
    const execution = process.execution(isVisible);
    if (outcome === 'superseded') execution.superseded(items);
    else if (outcome === 'stale') execution.stale(rows, isVisible);
    else execution.held(rows);
    expect(process.execution().isHeld(items)).toBe(does === 'waits');
    const sealed = await enter(execution);
    expect(process.execution().isHeld(items)).toBe(false);
    expect(process.turns.isContended(rows[0] ?? '')).toBe(does === 'takes a turn');
    sealed();
  },
);

test('an execution that has lost a row takes a turn at it if others of its process do', async () => {
  const process = new Process();
  const hidden = process.execution(false);
  hidden.stale(rows, false);
  const turn = await enter(hidden);
  const execution = process.execution();
  execution.stale(rows, true);
  const entered = enter(execution);
  expect(await hasEntered(entered)).toBe(false);
  turn();
  (await entered)();
});

/** Whether other executions leave the row afterwards, by chaining and a rival's lock. */
const WON = [
  [true, false, false],
  [true, true, true],
  [false, true, false],
  [false, false, false],
] as const;

test.each(WON)('after `won`: chaining %s, locked by a rival %s, row left %s', (chaining, locked, left) => {
  const process = new Process();
  process.execution(chaining).won(items, locked);
  expect(process.execution().isHeld(items)).toBe(left);
});

test('only an execution that chains leaves a row to another process', () => {
  const process = new Process();
  process.execution().stale(rows, true);
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
  const entered = enter(second);
  expect(await hasEntered(entered)).toBe(false);
  turn();
  await entered;
});
