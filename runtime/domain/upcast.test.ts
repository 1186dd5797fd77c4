import { expect, test } from 'vitest';
import type { Upcaster } from './descriptor.js';
import type { JsonObject } from './json.js';
import { upcast } from './upcast.js';

const versioned = { name: 'AccountCredited', version: 3 };
const stored = { version: 1, payload: { amount: 1 } };
const next: Upcaster = (payload) => ({ ...payload, steps: Number(payload['steps'] ?? 0) + 1 });

test('a payload passes through each upcaster from its version on', () => {
  expect(upcast(versioned, [next, next], stored)).toEqual({ amount: 1, steps: 2 });
  expect(upcast(versioned, [next, next], { ...stored, version: 2 })).toEqual({ amount: 1, steps: 1 });
  expect(upcast(versioned, [next, next], { ...stored, version: 3 })).toBe(stored.payload);
});

test.each([[undefined], [null], ['text'], [[]]])('an upcaster that returns %j has failed', (value) => {
  // Code without types may return anything.
  const broken: Upcaster = () => value as unknown as JsonObject;
  expect(() => upcast(versioned, [next, broken], stored)).toThrow(
    expect.objectContaining({
      code: 'FW_VALIDATION',
      message: 'The upcaster of AccountCredited from version 2 has failed: it returned no object',
    }),
  );
});

test('an upcaster that throws is named with its reason, and a missing one is named', () => {
  const cause = new TypeError('no amount');
  const broken: Upcaster = () => {
    throw cause;
  };
  expect(() => upcast(versioned, [broken, next], stored)).toThrow(
    expect.objectContaining({
      cause,
      message: 'The upcaster of AccountCredited from version 1 has failed: no amount',
    }),
  );
  expect(() => upcast(versioned, [next], stored)).toThrow('AccountCredited has no upcaster from version 2');
});
