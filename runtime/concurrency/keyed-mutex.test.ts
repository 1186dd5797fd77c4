import { expect, test } from 'vitest';
import { KeyedMutex } from './keyed-mutex.js';

/** Which of these places have been reached. */
async function reached(
  queue: KeyedMutex,
  count: number,
): Promise<{ order: number[]; leave: (() => void)[] }> {
  const order: number[] = [];
  const leave = Array.from({ length: count }, (_, index) => {
    const place = queue.queue('key');
    void place.reached.then(() => order.push(index));
    return place.leave;
  });
  await Promise.resolve();
  return { order, leave };
}

test('places are reached in the order of requests, each when the previous one is left', async () => {
  const queue = new KeyedMutex();
  const { order, leave } = await reached(queue, 3);
  expect(order).toEqual([0]);
  leave[0]?.();
  await Promise.resolve();
  expect(order).toEqual([0, 1]);
  leave[1]?.();
  leave[2]?.();
  await Promise.resolve();
  expect([order, queue.isTaken('key'), queue.size]).toEqual([[0, 1, 2], false, 0]);
});

test('a place that was left early is skipped, and leaving it twice ends no other turn', async () => {
  const queue = new KeyedMutex();
  const { order, leave } = await reached(queue, 3);
  leave[1]?.();
  leave[1]?.();
  await Promise.resolve();
  expect(order).toEqual([0]);
  leave[0]?.();
  leave[0]?.();
  await Promise.resolve();
  expect([order, queue.isTaken('key')]).toEqual([[0, 2], true]);
});

test('a free turn is taken at once, a taken one is not', () => {
  const queue = new KeyedMutex();
  const end = queue.tryEnter('key');
  expect(queue.tryEnter('key')).toBeUndefined();
  expect(queue.tryEnter('other')).toBeDefined();
  end?.();
  expect(queue.tryEnter('key')).toBeDefined();
});
