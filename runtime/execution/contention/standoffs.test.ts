import { describe, expect, test } from 'vitest';
import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';
import { systemClock } from '../../domain/clock.js';
import { Standoffs } from './standoffs.js';

/** Time that passes when the test says so. */
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

const ROWS = ['Account/a'];

function start(): { readonly time: VirtualTime; readonly standoffs: Standoffs } {
  const time = new VirtualTime();
  return { time, standoffs: new Standoffs(time) };
}

describe('a row that was lost', () => {
  test('is left alone for a moment, and no other row is', async () => {
    const { time, standoffs } = start();
    const pauseMs = standoffs.lost(ROWS, false);
    expect(pauseMs).toBeGreaterThan(0);
    expect(standoffs.obstacle(['Account/b'])).toBeUndefined();
    const obstacle = standoffs.obstacle(ROWS);
    await time.pass(pauseMs);
    await obstacle;
    expect(standoffs.obstacle(ROWS)).toBeUndefined();
  });

  test('is left alone for one pause only, however many executions of one chain tell of the loss', async () => {
    const { time, standoffs } = start();
    const pauseMs = standoffs.lost(ROWS, false);
    await time.pass(pauseMs / 2);
    expect(standoffs.lost(ROWS, false)).toBe(pauseMs / 2);
  });

  test('is then tried by one execution, which the others wait for', async () => {
    const { time, standoffs } = start();
    await time.pass(standoffs.lost(ROWS, false));
    const answered = standoffs.scout(ROWS);
    const obstacle = standoffs.obstacle(ROWS);
    standoffs.won(ROWS);
    answered?.();
    await obstacle;
    expect(standoffs.obstacle(ROWS)).toBeUndefined();
    expect(standoffs.scout(ROWS)).toBeUndefined();
    expect(standoffs.size).toBe(0);
  });

  test('that is lost again by the one who tries it is tried again soon', async () => {
    const { time, standoffs } = start();
    const firstMs = standoffs.lost(ROWS, false);
    await time.pass(firstMs);
    const answered = standoffs.scout(ROWS);
    const pauseMs = standoffs.lost(ROWS, true);
    answered?.();
    expect(pauseMs).toBeLessThan(firstMs);
    expect(standoffs.obstacle(ROWS)).toBeDefined();
    await time.pass(pauseMs);
    expect(standoffs.obstacle(ROWS)).toBeUndefined();
    expect(standoffs.scout(ROWS)).toBeDefined();
  });
});

test('a row that is left to a rival stays so while plans that were on their way are applied', async () => {
  const { time, standoffs } = start();
  standoffs.yield(ROWS);
  standoffs.won(ROWS);
  expect(standoffs.obstacle(ROWS)).toBeDefined();
  await time.pass(1_000);
  expect(standoffs.obstacle(ROWS)).toBeUndefined();
});

test('rivals are forgotten after a while', async () => {
  const { time, standoffs } = start();
  standoffs.yield(ROWS);
  await time.pass(2_000);
  standoffs.lost(['Account/b'], false);
  expect(standoffs.size).toBe(1);
});
