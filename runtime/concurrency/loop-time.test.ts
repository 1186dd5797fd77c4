import { beforeEach, expect, it } from 'vitest';
import { LoopTime } from './loop-time.js';

let nowMs: number;
let steps: (() => void)[];
let time: LoopTime;

beforeEach(() => {
  nowMs = 0;
  steps = [];
  time = new LoopTime({ nowMs: () => nowMs, later: (work) => void steps.push(work) });
});

/** A turn of the event loop after `ms` milliseconds. */
function turn(ms: number): void {
  nowMs += ms;
  for (const step of steps.splice(0)) step();
}

it('expires at its time while the event loop is free', () => {
  let expired = false;
  time.after(100, () => {
    expired = true;
  });
  for (let step = 0; step < 4; step += 1) turn(20);
  expect(expired).toBe(false);
  turn(20);
  expect(expired).toBe(true);
  expect(steps).toHaveLength(0);
});

it('does not count time in which the event loop was busy', () => {
  let expired = false;
  time.after(800, () => {
    expired = true;
  });
  // 15 seconds, in which answers could be read 30 times.
  for (let step = 0; step < 30; step += 1) turn(500);
  expect(expired).toBe(false);
  for (let step = 0; step < 2; step += 1) turn(500);
  expect(expired).toBe(true);
});

it('does not expire a wait that was cancelled, even by another one’s expiry', () => {
  const expired: string[] = [];
  const cancels: (() => void)[] = [];
  for (const name of ['one', 'other'])
    cancels.push(
      time.after(20, () => {
        expired.push(name);
        for (const cancel of cancels) cancel();
      }),
    );
  turn(25);
  expect(expired).toEqual(['one']);
  turn(25);
  expect(steps).toHaveLength(0);
});
