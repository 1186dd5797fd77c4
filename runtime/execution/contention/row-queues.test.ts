import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { RowQueues } from './row-queues.js';

/** Whether a promise is settled by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  return done;
}

describe('turns', () => {
  test('are given one after the other, in the order of requests', async () => {
    const turns = new RowQueues();
    const first = await turns.take(['a']);
    const [second, third] = [turns.take(['a']), turns.take(['a'])];
    expect([await isDone(second), await isDone(third)]).toEqual([false, false]);
    first();
    expect([await isDone(second), await isDone(third)]).toEqual([true, false]);
    (await second)();
    expect(await isDone(third)).toBe(true);
  });

  test('cost an execution the same, however many others wait', async () => {
    const turns = new RowQueues();
    const first = await turns.take(['a']);
    const startedMs = performance.now();
    const all = Array.from({ length: 20_000 }, () => turns.take(['a']).then((end) => end()));
    // To count those before each one takes half a minute.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    first();
    await Promise.all(all);
  });

  test('at several models are taken in one order, without a deadlock, and do not wait for other models', async () => {
    const turns = new RowQueues();
    const [first, second] = [turns.take(['a', 'b']), turns.take(['b', 'a'])];
    expect(await isDone(turns.take(['c']))).toBe(true);
    (await first)();
    expect(await isDone(second)).toBe(true);
  });

  test('are all released when the wait for one of them ends early; later executions still wait for earlier ones', async () => {
    const turns = new RowQueues();
    const first = await turns.take(['b']);
    const outOfTime = new Error('out of time');
    await expect(turns.take(['a', 'b'], () => Promise.reject(outOfTime))).rejects.toBe(outOfTime);
    expect(await isDone(turns.take(['a']))).toBe(true);
    const third = turns.take(['b']);
    expect(await isDone(third)).toBe(false);
    first();
    expect(await isDone(third)).toBe(true);
  });

  test('mark a model as contended until the last one ends', async () => {
    const turns = new RowQueues();
    expect([turns.isContended('a'), turns.size]).toEqual([false, 0]);
    const first = await turns.take(['a']);
    const second = turns.take(['a']);
    expect([turns.isContended('a'), turns.isContended('b')]).toEqual([true, false]);
    first();
    (await second)();
    await Promise.resolve();
    expect([turns.isContended('a'), turns.size]).toEqual([false, 0]);
  });

  test('are waited for as long as the queue moves', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const turns = new RowQueues();
    const first = await turns.take(['a']);
    const second = turns.take(['a']);
    const third = turns.take(['a']);
    await vi.advanceTimersByTimeAsync(200);
    first();
    const endSecond = await second;
    await vi.advanceTimersByTimeAsync(240);
    expect(await isDone(third)).toBe(false);
    endSecond();
    expect(await isDone(third)).toBe(true);
  });

  test('have a maximum wait for the next in line, because they only save work', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const turns = new RowQueues();
    await turns.take(['a']);
    const second = turns.take(['a']);
    expect(await isDone(second)).toBe(false);
    const third = turns.take(['a']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([await isDone(second), await isDone(third)]).toEqual([true, false]);
    (await second)();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await isDone(third)).toBe(true);
  });
});
