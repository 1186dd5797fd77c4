import { expect, test } from 'vitest';
import { HandlerAttempts } from './handler-attempts.js';
import type { HandlerDescriptor, HandlerSettings } from './handler-descriptor.js';
import { handlerOf } from './test-support/ledger.js';

const handler = (settings: HandlerSettings): HandlerDescriptor => ({
  ...handlerOf('Mirror', () => {}),
  ...settings,
});

test('an attempt is the last one when there have been as many as allowed', () => {
  const attempts = new HandlerAttempts(handler({ maximumAttempts: 3 }), Math.random);
  expect([1, 2, 3, 4].map((number) => attempts.isLast(number, new Error('no')))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test('an attempt that failed with what passes is never the last one', () => {
  const patient = {
    ...handler({ maximumAttempts: 1 }),
    passes: (error: unknown) => error instanceof RangeError,
  };
  const attempts = new HandlerAttempts(patient, Math.random);
  expect(attempts.isLast(1_000, new RangeError('later'))).toBe(false);
  expect(attempts.isLast(1_000, new TypeError('never'))).toBe(true);
});
