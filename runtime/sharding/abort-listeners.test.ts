import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from './abort-listeners.js';

test('an abort is told to all who still listen, by one listener of the signal', () => {
  const controller = new AbortController();
  const { signal } = controller;
  const told: number[] = [];
  const ends = Array.from({ length: 20 }, (_, index) => onAbort(signal, () => told.push(index)));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const end of ends.slice(2)) end();
  controller.abort();
  expect(told).toEqual([0, 1]);
});

test('a signal that nobody listens to any more has no listener, and may get one again', () => {
  const controller = new AbortController();
  const { signal } = controller;
  const told: string[] = [];
  const end = onAbort(signal, () => told.push('first'));
  end();
  end();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  onAbort(signal, () => told.push('second'));
  end();
  controller.abort();
  expect(told).toEqual(['second']);
});
