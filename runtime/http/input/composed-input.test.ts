import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../domain/decimal.js';
import { t, type UnnamedField } from '../../domain/field-types.js';
import { compileInput } from './compile-input.js';

const number = (text: string): LosslessNumber => new LosslessNumber(text);

/** The converted value of a request, or its problems as `pointer message`. */
function convert(field: UnnamedField, value: unknown): unknown {
  const input = { v: value };
  const problems = compileInput([{ name: 'v', ...field }], 'body')(input);
  return problems?.map(({ pointer, message }) => `${pointer} ${message}`).join('; ') ?? input.v;
}

describe('A tuple', () => {
  const pair = t.tuple([t.decimal(19, 4), t.instant({ nullable: true })]);
  const open = t.openTuple([t.string()], t.bigint());

  test('has each place converted', () => {
    expect(convert(pair, [number('1.5'), '2026-01-31T09:30:00Z'])).toEqual([
      new Decimal('1.5'),
      new Date('2026-01-31T09:30:00.000Z'),
    ]);
    expect(convert(pair, ['1.5', null])).toEqual([new Decimal('1.5'), null]);
    expect(convert(open, ['a'])).toEqual(['a']);
    expect(convert(open, ['a', '1', number('9223372036854775807')])).toEqual(['a', 1n, 2n ** 63n - 1n]);
  });

  test.each([
    [pair, {}, 'must be a JSON array'],
    [pair, ['1'], 'must have at least 2 items'],
    [pair, ['1', null, null], 'must have 2 items'],
    [t.tuple([t.string(), t.string({ optional: true })]), ['1', '2', '3'], 'must have 1 to 2 items'],
    [pair, [null, null], '/v/0 v[] cannot be null'],
    [pair, ['x', null], '/v/0 v[] must be a decimal number'],
    [open, ['a', 'b'], '/v/1 v[] must be an integer'],
  ])('%# is refused with the place', (field, value, reason) => {
    expect(convert(field, value)).toEqual(expect.stringContaining(reason));
  });
});

describe('A record', () => {
  const record = t.record(t.list(t.decimal(19, 4, { nullable: true })));

  test('keeps any key and converts each value', () => {
    const source = JSON.parse('{ "__proto__": ["1.5", null], "constructor": [] }');
    const converted = convert(record, source) as object;
    expect(Object.entries(converted)).toEqual([
      ['__proto__', [new Decimal('1.5'), null]],
      ['constructor', []],
    ]);
    expect(Object.getPrototypeOf(converted)).toBe(Object.prototype);
  });

  test.each([
    [[], 'must be a JSON object'],
    [number('1'), 'must be a JSON object'],
    [{ a: ['x'] }, '/v/a/0 v[][] must be a decimal number'],
    [{ a: null }, '/v/a v[] cannot be null'],
    [{ 'a\0': [] }, 'NUL'],
  ])('%j is refused with the key', (value, reason) => {
    expect(convert(record, value)).toEqual(expect.stringContaining(reason));
  });
});

describe('An object in a union', () => {
  const shape = t.unionBy('kind', [
    t.object({ kind: t.enum(['circle']), radius: t.decimal(19, 4) }),
    t.object({ kind: t.enum(['square', 'cube']), side: t.number({ optional: true }) }),
    t.bigint(),
  ]);

  test('is found by its literal, a number that stands for a text by being none', () => {
    expect(convert(shape, { kind: 'circle', radius: number('2') })).toEqual({
      kind: 'circle',
      radius: new Decimal(2),
    });
    expect(convert(shape, { kind: 'cube' })).toEqual({ kind: 'cube' });
    expect(convert(shape, number('5'))).toBe(5n);
  });

  test.each([
    [{ kind: 'line' }, '/v v must be object or bigint, discriminated by its field kind'],
    [{}, '/v v must be object or bigint, discriminated by its field kind'],
    [true, '/v v must be object or bigint, discriminated by its field kind'],
    [{ kind: 'circle' }, '/v/radius radius is required'],
    [{ kind: 'cube', other: 1 }, '/v/other Unknown field "other"'],
  ])('%j is refused', (value, reason) => {
    expect(convert(shape, value)).toBe(reason);
  });
});

describe('A type that contains itself', () => {
  const tree = t.recursive(
    'Tree',
    t.object({ at: t.instant(), children: t.list(t.again('Tree'), { optional: true }) }),
  );

  test('is converted on every level, and refused with the way to the mistake', () => {
    const leaf = { at: '2026-01-31T09:30:00Z' };
    const at = new Date('2026-01-31T09:30:00.000Z');
    expect(convert(tree, { ...leaf, children: [leaf] })).toEqual({ at, children: [{ at }] });
    expect(convert(tree, { ...leaf, children: [{ ...leaf, children: [{ at: 1 }] }] })).toEqual(
      expect.stringContaining('/v/children/0/children/0/at at must be'),
    );
  });

  test('a reference to an unknown name accepts no value', () => {
    expect(convert(t.again('Nothing'), {})).toBe('/v v is not valid');
  });
});
