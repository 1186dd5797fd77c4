import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { jsonText } from './json-text.js';

describe('a JSON value as text', () => {
  test('equals JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonText(value, 'field')).toBe(JSON.stringify(value));
      }),
    );
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'is refused wherever it holds %d, which would become null',
    (number) => {
      for (const value of [number, [1, null, number], { a: [{ b: 'null', c: number }] }]) {
        expect(() => jsonText(value, 'scores')).toThrow(ValidationError);
        expect(() => jsonText(value, 'scores')).toThrow('scores must hold finite numbers');
      }
    },
  );

  test.each([
    ['nothing', undefined],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
  ])('is not made of %s', (_, value) => {
    expect(() => jsonText(value, 'field')).toThrow('field must be a JSON value');
  });

  test.each([
    ['a bigint', { sum: 1n }],
    [
      'what holds itself',
      (() => {
        const list: unknown[] = [];
        list.push(list);
        return list;
      })(),
    ],
  ])('is not made of %s', (_, value) => {
    expect(() => jsonText(value, 'field')).toThrow(ValidationError);
  });

  const nested = (depth: number): unknown => {
    let value: unknown = null;
    for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
    return value;
  };

  test('may be nested a thousand levels deep', () => {
    expect(jsonText(nested(1_000), 'field')).toBe(JSON.stringify(nested(1_000)));
    const brackets = { text: '[{'.repeat(5_000), '\\"[[': ['"\\', '[[['.repeat(500)] };
    expect(jsonText(brackets, 'field')).toBe(JSON.stringify(brackets));
  });

  test.each([1_001, 100_000])('is refused with %d levels', (depth) => {
    expect(() => jsonText(nested(depth), 'field')).toThrow('field has more than 1000 levels');
  });
});
