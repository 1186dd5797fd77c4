import { test } from 'node:test';
import type { ActionOutcome } from './index.js';

declare const outcome: ActionOutcome<number>;

// Specifications are written in the same form for every test runner: `node:test` takes promises of nothing only.
test('returned', () => outcome);
test('returned, after checks', () => outcome.thenReturns(5).thenNothing());
test('returned, of a failure', () => outcome.thenFails(RangeError, 'No'));
test('awaited', async () => {
  await outcome;
  const { result } = await outcome.performed();
  result satisfies number;
});
