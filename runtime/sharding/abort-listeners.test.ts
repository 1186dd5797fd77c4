import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from './abort-listeners.js';

test('an abort notifies all current listeners, by one listener of the signal', () => {
  const controller = new AbortController();
  const { signal } = controller;
  const calls: number[] = [];
  const ends = Array.from({ length: 20 }, (_, index) => onAbort(signal, () => calls.push(index)));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const end of ends.slice(2)) end();
  controller.abort();
  expect(calls).toEqual([0, 1]);
});

test('a signal without callbacks has no listener, and may get one again', () => {
  const controller = new AbortController();
  const { signal } = controller;
  const calls: string[] = [];
  const end = onAbort(signal, () => calls.push('first'));
  end();
  end();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  onAbort(signal, () => calls.push('second'));
  end();
  controller.abort();
  expect(calls).toEqual(['second']);
});
