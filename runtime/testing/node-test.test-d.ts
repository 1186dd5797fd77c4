import { test } from 'node:test';
import type { Trip } from '../sagas/test-support/trips.js';
import type { ActionOutcome, HandlerOutcome, SagaOutcome } from './index.js';

declare const outcome: ActionOutcome<number>;
declare const handled: HandlerOutcome;
declare const ended: SagaOutcome<Trip>;

// Specifications have the same form in every test runner: `node:test` accepts only promises of void.
test('returned', () => outcome);
test('returned, after checks', () => outcome.thenReturns(5).thenNothing());
test('returned, of a failure', () => outcome.thenFails(RangeError, 'No'));
test('awaited', async () => {
  await outcome;
  const { result } = await outcome.performed();
  result satisfies number;
});
test('returned, of a handler', () => handled.thenNothing());
test('returned, of a saga', () => ended.thenSteps('FLIGHT').thenEnds('CANCELLED', { reason: 'No room' }));
