import { describe, expect, test } from 'vitest';
import { Decimal } from '../../domain/decimal.js';
import type { FieldType } from '../../domain/descriptor.js';
import { Id } from '../../domain/id.js';
import { Note } from '../../domain/test-support/note.js';
import { DatabaseError, ValidationError } from '../../errors.js';
import { arrayLiteral, type ColumnCodec, columnCodec, jsonElement, quoteElement } from './column-codec.js';

function codecOf(type: FieldType, field = 'field'): ColumnCodec {
  return columnCodec({ field, column: 'column', type, sqlType: 'text' });
}

describe('texts', () => {
  const { toElement } = codecOf({ kind: 'string' });

  test.each([
    ['plain-Text_1', 'plain-Text_1'],
    ['', '""'],
    ['null', '"null"'],
    ['NULL', '"NULL"'],
    ['a,b {c}', '"a,b {c}"'],
    ['say "yes" \\o/', '"say \\"yes\\" \\\\o/"'],
    ["it's\n;--", '"it\'s\n;--"'],
    ['😀', '"😀"'],
  ])('%j stands in an array literal as %s', (text, element) => {
    expect(toElement(text)).toBe(element);
  });

  test.each(['a\0b', '\ud800', 'x\udc00'])('%j is refused: it cannot be stored', (text) => {
    expect(() => toElement(text)).toThrow(ValidationError);
  });
});

describe('amounts', () => {
  const { toElement, fromDriver } = codecOf({ kind: 'decimal', precision: 6, scale: 2 });

  test.each(['0', '-0.01', '9999.99', '1e3', '12.30'])('%s is written in plain notation, exactly', (text) => {
    expect(toElement(new Decimal(text))).toBe(new Decimal(text).toFixed());
  });

  test.each(['0.001', '10000', '-10000', 'NaN', 'Infinity'])('%s does not fit', (text) => {
    expect(() => toElement(new Decimal(text))).toThrow(ValidationError);
  });

  test('come back with every digit', () => {
    expect((fromDriver('12345678901234567890.1') as Decimal).toFixed()).toBe('12345678901234567890.1');
  });
});

describe('numbers', () => {
  test('must be finite', () => {
    const { toElement } = codecOf({ kind: 'number' });
    expect(toElement(-1.5)).toBe('-1.5');
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => toElement(value)).toThrow(ValidationError);
    }
  });

  test('of 64 bits are exact, and no larger', () => {
    const { toElement, fromDriver } = codecOf({ kind: 'bigint' });
    expect(toElement(2n ** 63n - 1n)).toBe('9223372036854775807');
    expect(fromDriver('9223372036854775807')).toBe(2n ** 63n - 1n);
    expect(toElement(-(2n ** 63n))).toBe('-9223372036854775808');
    for (const value of [2n ** 63n, -(2n ** 63n) - 1n])
      expect(() => toElement(value)).toThrow(ValidationError);
  });

  test('that are versions come from a bigint column', () => {
    const { toElement, fromDriver } = codecOf({ kind: 'number' }, 'version');
    expect([toElement(7), fromDriver('7')]).toEqual(['7', 7]);
  });
});

describe('UUIDs', () => {
  const { toText, toElement } = codecOf({ kind: 'uuid' }, 'owner');
  const UUID = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';

  test('are written in the form in which PostgreSQL gives them back', () => {
    expect([toText(UUID), toElement(UUID.toUpperCase())]).toEqual([UUID, UUID]);
  });
});

describe('other values', () => {
  test('instants are texts in UTC', () => {
    const { toElement } = codecOf({ kind: 'instant' });
    const dates = ['2024-02-29T00:00:00.001Z', '2024-02-29T00:00:00.001Z', '1969-12-31T23:59:59.999Z'];
    expect(dates.map((date) => toElement(new Date(date)))).toEqual(dates);
    expect(() => toElement(new Date(Number.NaN))).toThrow(ValidationError);
  });

  test('booleans, ids and documents', () => {
    expect([true, false].map(codecOf({ kind: 'boolean' }).toElement)).toEqual(['t', 'f']);
    const uuid = '01890000-0000-4000-8000-000000000000';
    const id = codecOf({ kind: 'id', model: 'Note', sharded: false });
    expect(id.toElement(Id.of(Note, uuid))).toBe(uuid);
    expect((id.fromDriver(uuid) as Id<Note>).equals(Id.of(Note, uuid))).toBe(true);
    const json = codecOf({ kind: 'json' });
    expect(json.toElement({ a: 'b"\\' })).toBe('"{\\"a\\":\\"b\\\\\\"\\\\\\\\\\"}"');
  });

  test.each([
    ['lists', { kind: 'list', of: { kind: 'number' } }, [1, Number.NaN]],
    ['objects', { kind: 'object', fields: [] }, { ratio: Number.POSITIVE_INFINITY }],
    ['documents', { kind: 'json' }, { ratios: [Number.NEGATIVE_INFINITY] }],
  ] as const)('numbers must be finite in %s too', (_, type, value) => {
    const { toText, toElement } = codecOf(type);
    expect(() => toText(value)).toThrow(ValidationError);
    expect(() => toElement(value)).toThrow('field must hold finite numbers');
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

describe('whole numbers and instants', () => {
  const integers = columnCodec({
    field: 'count',
    column: 'count',
    type: { kind: 'number' },
    sqlType: 'integer',
  });

  test.each([2 ** 31 - 1, -(2 ** 31), 0])('%s fits an integer column', (value) => {
    const { toText, toElement } = integers;
    expect([toText(value), toElement(value)]).toEqual([String(value), String(value)]);
  });

  test.each([2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN])('%s does not fit an integer column', (value) => {
    expect(() => integers.toText(value)).toThrow(ValidationError);
    expect(() => integers.toElement(value)).toThrow(ValidationError);
  });

  test.each(['+010000-01-01T00:00:00Z', '0000-12-31T23:59:59.999Z', '-000001-01-01T00:00:00Z', 'never'])(
    '%s is no instant that is stored',
    (text) => {
      expect(() => codecOf({ kind: 'instant' }).toText(new Date(text))).toThrow(ValidationError);
    },
  );

  test.each(['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'])('%s is stored', (text) => {
    expect(codecOf({ kind: 'instant' }).toText(new Date(text))).toBe(text);
  });
});
