import { describe, expect, test } from 'vitest';
import { Decimal } from '../../domain/decimal.js';
import type { FieldType } from '../../domain/descriptor.js';
import { Id } from '../../domain/id.js';
import { Note } from '../../domain/test-support/note.js';
import { DatabaseError, ValidationError } from '../../errors.js';
import { arrayLiteral, type ColumnCodec, columnCodec, jsonElement, quoteElement } from './column-codec.js';

function codecOf(type: FieldType, { field = 'field', sqlType = 'text' } = {}): ColumnCodec {
  return columnCodec({ field, column: 'column', type, sqlType });
}

const AMOUNT = { kind: 'decimal', precision: 6, scale: 2 } as const;
const UUID = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';
const INTEGER = { sqlType: 'integer' };
const SHORT = { sqlType: 'varchar(3)' };
const integers = [2 ** 31 - 1, -(2 ** 31), 0];
const bigints = [2n ** 63n - 1n, -(2n ** 63n)];
const instants = ['2024-02-29T00:00:00.001Z', '1969-12-31T23:59:59.999Z'];
const ends = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];

test.each<[string, FieldType, readonly unknown[], readonly string[], object?]>([
  ['plain texts', { kind: 'string' }, ['plain-Text_1', '', 'null'], ['plain-Text_1', '""', '"null"']],
  ['texts like NULL or lists', { kind: 'string' }, ['NULL', 'a,b {c}'], ['"NULL"', '"a,b {c}"']],
  ['quotes', { kind: 'string' }, ['say "yes" \\o/', "it's\n;--"], ['"say \\"yes\\" \\\\o/"', '"it\'s\n;--"']],
  ['any characters', { kind: 'string' }, ['😀'], ['"😀"']],
  ['texts of limited length', { kind: 'string' }, ['abc', '😀😀😀', ''], ['"abc"', '"😀😀😀"', '""'], SHORT],
  ['currencies', { kind: 'currency' }, ['EUR'], ['"EUR"'], { sqlType: 'char(3)' }],
  ...['0', '-0.01', '9999.99', '12.30'].map((text): [string, FieldType, Decimal[], string[]] => [
    `the amount ${text}`,
    AMOUNT,
    [new Decimal(text)],
    [new Decimal(text).toFixed()],
  ]),
  ['an amount in plain notation', AMOUNT, [new Decimal('1e3')], ['1000']],
  ['numbers', { kind: 'number' }, [-1.5], ['-1.5']],
  ['versions', { kind: 'number' }, [7], ['7'], { field: 'version' }],
  ['whole numbers', { kind: 'number' }, integers, integers.map(String), INTEGER],
  ['numbers of 64 bits', { kind: 'bigint' }, bigints, bigints.map(String)],
  ['UUIDs as PostgreSQL gives them back', { kind: 'uuid' }, [UUID, UUID.toUpperCase()], [UUID, UUID]],
  ['instants in UTC', { kind: 'instant' }, instants.map((text) => new Date(text)), instants],
  ['the first and the last instant', { kind: 'instant' }, ends.map((text) => new Date(text)), ends],
  ['booleans', { kind: 'boolean' }, [true, false], ['t', 'f']],
  ['ids', { kind: 'id', model: 'Note', sharded: false }, [Id.of(Note, UUID)], [UUID]],
  ['documents', { kind: 'json' }, [{ a: 'b"\\' }], ['"{\\"a\\":\\"b\\\\\\"\\\\\\\\\\"}"']],
])('an array literal holds %s', (_, type, values, elements, options) => {
  expect(values.map(codecOf(type, options).toElement)).toEqual(elements);
});

const decimals = ['0.001', '10000', '-10000', 'NaN', 'Infinity'].map((text) => new Decimal(text));
const outside = ['+010000-01-01T00:00:00Z', '0000-12-31T23:59:59.999Z', '-000001-01-01T00:00:00Z', 'never'];

test.each<[string, FieldType, readonly unknown[], object?]>([
  ['texts that PostgreSQL cannot store', { kind: 'string' }, ['a\0b', '\ud800', 'x\udc00']],
  ['texts that PostgreSQL would refuse, or cut off', { kind: 'string' }, ['abcd', 'abc '], SHORT],
  ['currencies that it would pad', { kind: 'currency' }, ['EU', '', '😀€', 'EURO'], { sqlType: 'char(3)' }],
  ['amounts with too many digits', AMOUNT, decimals],
  ['numbers that are not finite', { kind: 'number' }, [Number.NaN, Number.POSITIVE_INFINITY]],
  ['numbers beyond 64 bits', { kind: 'bigint' }, [2n ** 63n, -(2n ** 63n) - 1n]],
  ['other numbers than whole ones', { kind: 'number' }, [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN], INTEGER],
  ['instants outside of the years 1 to 9999', { kind: 'instant' }, outside.map((text) => new Date(text))],
  ['lists with NaN', { kind: 'list', of: { kind: 'number' } }, [[1, Number.NaN]]],
  ['objects with infinity', { kind: 'object', fields: [] }, [{ ratio: Number.POSITIVE_INFINITY }]],
  ['documents with infinity', { kind: 'json' }, [{ ratios: [Number.NEGATIVE_INFINITY] }]],
])('%s are refused', (_, type, values, options) => {
  const { toText, toElement } = codecOf(type, options);
  for (const value of values) {
    expect(() => toText(value)).toThrow(ValidationError);
    expect(() => toElement(value)).toThrow(ValidationError);
    if (typeof value === 'object' && value?.constructor === Object)
      expect(() => toElement(value)).toThrow('must be a finite number');
  }
});

describe('a stored value', () => {
  test('comes back with every digit, and as a value of its class', () => {
    expect((codecOf(AMOUNT).fromDriver('12345678901234567890.1') as Decimal).toFixed()).toBe(
      '12345678901234567890.1',
    );
    expect(codecOf({ kind: 'bigint' }).fromDriver('9223372036854775807')).toBe(2n ** 63n - 1n);
    expect(codecOf({ kind: 'number' }, { field: 'version' }).fromDriver('7')).toBe(7);
    const { fromDriver } = codecOf({ kind: 'id', model: 'Note', sharded: false });
    expect((fromDriver(UUID) as Id<Note>).equals(Id.of(Note, UUID))).toBe(true);
  });

  test('a stored document of another shape is no mistake of the caller', () => {
    const fields = [{ name: 'zip', type: { kind: 'decimal', precision: 9, scale: 2 } }] as const;
    const { fromDriver } = codecOf({ kind: 'object', fields });
    expect(fromDriver({ zip: '1' })).toEqual({ zip: new Decimal(1) });
    expect(() => fromDriver({})).toThrow(DatabaseError);
    expect(() => fromDriver({})).toThrow('A stored value of field has another shape: zip is missing');
  });

  test('documents come back frozen through and through', () => {
    const value = codecOf({ kind: 'json' }).fromDriver({ list: [{ a: 1 }] }) as { list: readonly object[] };
    expect([value, value.list, value.list[0]].every(Object.isFrozen)).toBe(true);
  });
});

test('a value alone is a text', () => {
  expect(codecOf({ kind: 'uuid' }).toText(UUID)).toBe(UUID);
  expect(integers.map(codecOf({ kind: 'number' }, INTEGER).toText)).toEqual(integers.map(String));
  expect(ends.map((text) => codecOf({ kind: 'instant' }).toText(new Date(text)))).toEqual(ends);
});

test('a JSON text is quoted as any other text would be', () => {
  for (const value of ['', 'a"b\\c', 'line\nbreak', '\u2028', { 'k"': ['\t', 1, null] }]) {
    const json = JSON.stringify(value);
    expect(jsonElement(json)).toBe(quoteElement(json));
  }
});

test('elements become an array literal', () => {
  expect(arrayLiteral([])).toBe('{}');
  expect(arrayLiteral(['a', 'NULL', '"x,y"'])).toBe('{a,NULL,"x,y"}');
});

describe('values that are packed', () => {
  const ID = '018f0a1b-2c3d-7e4f-8a5b-6c7d8e9f0123';
  const codec = (type: FieldType, sqlType: string): ColumnCodec =>
    columnCodec({ field: 'field', column: 'column', type, sqlType });

  test.each([
    ['an instant as text', { kind: 'instant' }, 'text'],
    ['a text as an instant', { kind: 'string' }, 'timestamptz'],
    ['an instant without a zone', { kind: 'instant' }, 'timestamp'],
    ['a UUID as text', { kind: 'uuid' }, 'text'],
  ] as const)('are not those of a column that keeps %s', (_, type, sqlType) => {
    expect(codec(type, sqlType).pack).toBeUndefined();
  });

  test('must have the usual form', () => {
    expect(codec({ kind: 'uuid' }, 'uuid').pack?.([ID, `{${ID}}`])).toBeUndefined();
    expect(codec({ kind: 'instant' }, 'timestamptz').pack?.([new Date(Number.NaN)])).toBeUndefined();
  });
});
