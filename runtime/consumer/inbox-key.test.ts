import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExecutionConfiguration } from '../action/execution-configuration.js';
import { inboxKey } from './inbox-key.js';

/** Texts of few characters, so that collisions are likely if a separator can be forged. */
const text = fc.string({
  unit: fc.constantFrom('#', '%', '2', '3', '5', 'a', ' ', '"', 'ä', '😀'),
  maxLength: 6,
});
const message = fc.tuple(text, text);

test('two messages with different sources or ids never have the same key', () => {
  expect(inboxKey('a#b', 'c')).not.toBe(inboxKey('a', 'b#c'));
  expect(inboxKey('a%23b', 'c')).not.toBe(inboxKey('a#b', 'c'));
  fc.assert(
    fc.property(message, message, ([source, id], [otherSource, otherId]) => {
      const isSame = source === otherSource && id === otherId;
      expect(inboxKey(source, id) === inboxKey(otherSource, otherId)).toBe(isSame);
    }),
    { numRuns: 2_000 },
  );
});

test('ids of other systems, with spaces or letters of any alphabet, make valid keys', () => {
  const key = inboxKey('/orders', 'Größe 5');
  expect(key).toBe('/orders#Gr%C3%B6%C3%9Fe%205');
  expect(() => ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey(key)).not.toThrow();
});
