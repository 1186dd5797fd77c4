import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TransientMap } from './transient-map.js';

describe('a transient map', () => {
  test('behaves as a Map, through growth and removal', () => {
    const step = fc.record({ key: fc.nat(400), kept: fc.integer({ min: 0, max: 2 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1_000, size: 'max' }), (steps) => {
        const map = new TransientMap<number>();
        const reference = new Map<string, number>();
        for (const [value, { key, kept }] of steps.entries()) {
          for (const either of [map, reference]) {
            if (kept > 0) either.set(`Account/${key}`, value);
            else either.delete(`Account/${key}`);
          }
          expect(map.size).toBe(reference.size);
        }
        for (let key = 0; key <= 400; key += 1) {
          const name = `Account/${key}`;
          expect([map.has(name), map.get(name)]).toEqual([reference.has(name), reference.get(name)]);
        }
      }),
    );
  });

  test('distinguishes keys with the same suffix', () => {
    const map = new TransientMap<string>();
    const keys = ['Account/12345678', 'Wallet/12345678', '12345678', '', '8'];
    for (const key of keys) map.set(key, `of ${key}`);
    expect(keys.map((key) => map.get(key))).toEqual(keys.map((key) => `of ${key}`));
    map.delete('Wallet/12345678');
    expect(keys.map((key) => map.has(key))).toEqual([true, false, true, true, true]);
  });
});
