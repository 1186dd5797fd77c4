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
      for (const [value, path] of [
        [number, 'scores'],
        [[1, null, number], 'scores[2]'],
        [{ a: [{ b: 'null', c: number }] }, 'scores.a[0].c'],
      ] as const) {
        expect(() => jsonText(value, 'scores')).toThrow(ValidationError);
        expect(() => jsonText(value, 'scores')).toThrow(`${path} must be a finite number`);
      }
    },
  );

  test.each([
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['an Error', Object.assign(new Error('lost'), { code: 'E' })],
    ['a typed array', new Uint8Array(2)],
    ['a regular expression', /a/],
  ])('is refused where it holds %s, which would lose its content', (_, value) => {
    const message = `note.parts[1].a must be a JSON value, not a ${value.constructor.name}`;
    expect(() => jsonText({ parts: [1, { a: value }] }, 'note')).toThrow(
      new ValidationError(message, { field: 'note' }),
    );
  });

  test.each([
    ['a missing item', [1, undefined, 3]],
    // biome-ignore lint/suspicious/noSparseArray: such a list is tested.
    ['a hole', [1, , 3]],
    ['a function', [1, () => 1]],
  ])('is refused where a list holds %s, which would become null', (_, value) => {
    expect(() => jsonText({ value }, 'note')).toThrow('note.value[1] must be a JSON value');
  });

  test('has the fields of an instance of a class, and what its toJSON returns', () => {
    class Point {
      readonly x = 1;
    }
    const loop = { toJSON: () => null, self: {} };
    loop.self = loop;
    expect(jsonText([new Point(), new Date(0), loop, Object.create(null)], 'field')).toBe(
      '[{"x":1},"1970-01-01T00:00:00.000Z",null,{}]',
    );
  });

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
