import { expect, test } from 'vitest';
import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';
import { systemClock } from '../../domain/clock.js';
import { RowContention, type RowState } from './row-contention.js';

/** A clock that the test advances. */
class VirtualTime implements ExecutionEnvironment {
  readonly clock = systemClock;
  readonly #sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];
  #nowMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  random(): number {
    return 1;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => {
      this.#sleepers.push({ untilMs: this.#nowMs + milliseconds, wake });
    });
  }

  async pass(milliseconds: number): Promise<void> {
    this.#nowMs += milliseconds;
    for (const { untilMs, wake } of this.#sleepers) if (untilMs <= this.#nowMs) wake();
    await new Promise(setImmediate);
  }
}

const ROW = 'Account/a';
const ROWS = [ROW];
/** Longer than any turn, shorter than the time for which rows are remembered. */
const TURN_OVER_MS = 100;

/** One process with one row, and the events of that row. */
class Bench {
  readonly time = new VirtualTime();
  readonly contention = new RowContention(this.time);
  #answered = (): void => {};

  get state(): RowState {
    return this.contention.stateOf(ROW);
  }

  readonly events = {
    lost: () => void this.contention.lost(ROWS, false),
    'probe lost': () => void this.contention.lost(ROWS, true),
    yielded: () => this.contention.yield(ROWS),
    applied: () => this.contention.applied(ROWS),
    'turn over': () => this.time.pass(TURN_OVER_MS),
    probe: () => {
      if (this.contention.obstacle(ROWS) !== undefined) return;
      this.#answered = this.contention.probe(ROWS) ?? this.#answered;
    },
    answered: () => this.#answered(),
  };
}

type Event = keyof Bench['events'];

const PATHS: Readonly<Record<RowState, readonly Event[]>> = {
  free: [],
  left: ['lost'],
  due: ['lost', 'turn over'],
  probed: ['lost', 'turn over', 'probe'],
  'probed, left': ['lost', 'turn over', 'probe', 'probe lost'],
};

/** The next state of a row, by state and event. */
const NEXT: Readonly<Record<RowState, Readonly<Record<Event, RowState>>>> = {
  free: {
    ...{ lost: 'left', 'probe lost': 'left', yielded: 'left', applied: 'free' },
    ...{ 'turn over': 'free', probe: 'free', answered: 'free' },
  },
  left: {
    ...{ lost: 'left', 'probe lost': 'left', yielded: 'left', applied: 'left' },
    ...{ 'turn over': 'due', probe: 'left', answered: 'left' },
  },
  due: {
    ...{ lost: 'left', 'probe lost': 'left', yielded: 'left', applied: 'free' },
    ...{ 'turn over': 'due', probe: 'probed', answered: 'due' },
  },
  probed: {
    ...{ lost: 'probed, left', 'probe lost': 'probed, left', yielded: 'probed, left', applied: 'free' },
    ...{ 'turn over': 'probed', probe: 'probed', answered: 'due' },
  },
  'probed, left': {
    ...{
      lost: 'probed, left',
      'probe lost': 'probed, left',
      yielded: 'probed, left',
      applied: 'probed, left',
    },
    ...{ 'turn over': 'probed', probe: 'probed, left', answered: 'left' },
  },
};

const cells = Object.entries(NEXT).flatMap(([state, row]) =>
  Object.entries(row).map(([event, next]) => [state, event, next] as const),
);

async function inState(state: RowState): Promise<Bench> {
  const bench = new Bench();
  for (const event of PATHS[state]) await bench.events[event]();
  expect(bench.state).toBe(state);
  return bench;
}

test.each(cells)('a row that is %s: %s makes it %s', async (state, event, next) => {
  const bench = await inState(state as RowState);
  await bench.events[event as Event]();
  expect(bench.state).toBe(next);
});

test.each(['left', 'probed', 'probed, left'] as const)(
  'executions wait for a row that is %s, and for no other',
  async (state) => {
    const { contention } = await inState(state);
    expect(contention.obstacle(ROWS)).toBeDefined();
    expect(contention.obstacle(['Account/b'])).toBeUndefined();
  },
);

test.each(['free', 'due'] as const)('executions do not wait for a row that is %s', async (state) => {
  const { contention } = await inState(state);
  expect(contention.obstacle(ROWS)).toBeUndefined();
});

test.each([
  ['left', 'turn over'],
  ['probed', 'answered'],
] as const)('a waiter for a row that is %s continues with: %s', async (state, event) => {
  const bench = await inState(state);
  const obstacle = bench.contention.obstacle(ROWS);
  await bench.events[event]();
  await obstacle;
});

test('further reports of the same loss do not extend the turn', async () => {
  const { time, contention } = new Bench();
  const turnMs = contention.lost(ROWS, false);
  await time.pass(turnMs / 2);
  expect(contention.lost(ROWS, false)).toBe(turnMs / 2);
});

test('a row whose probe failed is probed again after a shorter pause than the first turn', async () => {
  const first = new Bench().contention.lost(ROWS, false);
  const { contention } = await inState('probed');
  expect(contention.lost(ROWS, true)).toBeLessThan(first);
});

test('a due row without requests is forgotten', async () => {
  const { time, contention } = await inState('due');
  await time.pass(2_000);
  contention.lost(['Account/b'], false);
  expect(contention.stateOf(ROW)).toBe('free');
  expect(contention.size).toBe(1);
});
