import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { Turns } from './turns.js';

/** Longer than a turn may take, in milliseconds. */
const LONG_MS = 10;

let nowMs: number;
let turnsAhead: (() => void)[];
let turns: Turns;
let done: string[];

/** Work of `ms` milliseconds. */
const take = (name: string, ms: number) => (): void => {
  nowMs += ms;
  done.push(name);
};

/** The next turn of the event loop. */
function pass(): void {
  for (const work of turnsAhead.splice(0)) work();
}

beforeEach(() => {
  nowMs = 0;
  turnsAhead = [];
  done = [];
  turns = new Turns({
    nowMs: () => nowMs,
    nextTurn: (work) => void turnsAhead.push(work),
    afterwards: (work) => work(),
  });
});

describe('Turns', () => {
  it('do work at once while there is time', () => {
    turns.read(take('read', 1));
    turns.work(take('work', 1));
    expect(done).toEqual(['read', 'work']);
  });

  it('do 32 pieces of work however long they take, and put off the rest, in order', () => {
    for (let piece = 0; piece < 70; piece += 1) turns.work(take(String(piece), LONG_MS));
    expect(done.length).toBe(32);
    pass();
    expect(done.length).toBe(64);
    turns.work(take('last', 0));
    pass();
    expect(done).toEqual([...Array.from({ length: 70 }, (_, piece) => String(piece)), 'last']);
    pass();
    expect(turnsAhead).toEqual([]);
  });

  it('read first, and do other work all the same', () => {
    for (let piece = 0; piece < 32; piece += 1) turns.work(take('', LONG_MS));
    done = [];
    for (let piece = 0; piece < 100; piece += 1) turns.work(take('work', 0.5));
    for (let piece = 0; piece < 100; piece += 1) turns.read(take('read', 0.5));
    pass();
    expect(done.length).toBe(32);
    expect(done.filter((name) => name === 'read').length).toBe(26);
    for (let turn = 0; turn < 10; turn += 1) pass();
    expect(done.length).toBe(200);
  });

  it('go on after work that throws', () => {
    for (let piece = 0; piece < 32; piece += 1) turns.work(take('', LONG_MS));
    done = [];
    turns.work(() => {
      throw new Error('broken');
    });
    turns.work(take('next', 0));
    expect(pass).toThrow('broken');
    expect(done).toEqual(['next']);
  });

  it('keep the event loop free for others, and count what work puts off as a part of it', async () => {
    const own = new Turns();
    let left = 232;
    const burn = (): void => {
      const untilMs = performance.now() + 1;
      while (performance.now() < untilMs);
      left -= 1;
    };
    for (let piece = 0; piece < 32; piece += 1) own.work(burn);
    for (let piece = 0; piece < 200; piece += 1) own.work(() => process.nextTick(burn));
    let count = 0;
    while (left > 0) {
      await nextTurn();
      count += 1;
    }
    // About 33 pieces of a millisecond are a turn.
    expect(count).toBeGreaterThanOrEqual(5);
  });
});
