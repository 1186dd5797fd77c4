import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { jsonText } from './json-text.js';

describe('a JSON value as text', () => {
  test('is what JSON makes of it', () => {
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

  test('may be as deep as JSON can write it', () => {
    let value: unknown = null;
    for (let depth = 0; depth < 3_000; depth += 1) value = [value];
    expect(jsonText(value, 'field')).toBe(JSON.stringify(value));
  });
});
