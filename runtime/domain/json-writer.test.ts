import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { currency } from './currency.js';
import { Decimal } from './decimal.js';
import type { FieldType } from './descriptor.js';
import { Id } from './id.js';
import { compileObjectWriter, compileWriter } from './json-codec.js';
import { Note } from './test-support/note.js';

const DECIMAL: FieldType = { kind: 'decimal', precision: 19, scale: 4 };
const UUID = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

describe('compileWriter', () => {
  const cases: readonly (readonly [FieldType, unknown, string])[] = [
    [{ kind: 'string' }, 'a"b\\c\n\u2028', JSON.stringify('a"b\\c\n\u2028')],
    [{ kind: 'enum', values: ["it's"] }, "it's", '"it\'s"'],
    [{ kind: 'number' }, 1.5, '1.5'],
    [{ kind: 'bigint' }, 9_007_199_254_740_993n, '"9007199254740993"'],
    [{ kind: 'boolean' }, false, 'false'],
    [{ kind: 'instant' }, new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [DECIMAL, new Decimal('150.5000'), '"150.5"'],
    [DECIMAL, new Decimal('1e2'), '"100"'],
    [DECIMAL, new Decimal('-0'), '"0"'],
    [{ kind: 'uuid' }, UUID, `"${UUID}"`],
    [{ kind: 'uuid' }, UUID.toUpperCase(), `"${UUID}"`],
    [{ kind: 'currency' }, currency('EUR'), '"EUR"'],
    [{ kind: 'id', model: 'Note', sharded: false }, Id.of(Note, UUID), `"${UUID}"`],
    [{ kind: 'json' }, { a: [1, null] }, '{"a":[1,null]}'],
    [{ kind: 'list', of: DECIMAL }, [new Decimal(1), null, new Decimal('0.10')], '["1",null,"0.1"]'],
    [
      { kind: 'object', fields: [{ name: 'at', type: { kind: 'instant' } }] },
      { at: new Date(1), other: 2 },
      '{"at":"1970-01-01T00:00:00.001Z"}',
    ],
  ];

  test.each(cases)('writes %o', (type, value, json) => {
    expect(compileWriter(type, 'field')(value)).toBe(json);
  });

  test.each(['x"},{"y":"z', `{${UUID}}`, UUID.replaceAll('-', ''), `${UUID}"`, ''])(
    'refuses %j as a UUID, naming the field',
    (value) => {
      const write = compileWriter({ kind: 'uuid' }, 'owner');
      expect(() => write(value)).toThrow(ValidationError);
      expect(() => write(value)).toThrow('owner is not a UUID');
    },
  );

  test('lets no value of an untyped caller break out of its JSON text', () => {
    const types: readonly FieldType[] = [{ kind: 'currency' }, { kind: 'bigint' }, { kind: 'boolean' }];
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('true,"b":1', '1"},{"b":"2'));
    fc.assert(
      fc.property(fc.constantFrom(...types), text, (type, value) => {
        const read: unknown = JSON.parse(compileWriter(type, 'field')(value));
        expect(read).toBe(type.kind === 'boolean' ? false : value);
      }),
    );
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses the number %d, naming the field', (value) => {
    const write = compileWriter({ kind: 'number' }, 'ratio');
    expect(() => write(value)).toThrow(ValidationError);
    expect(() => write(value)).toThrow('ratio must be a finite number');
  });

  test.each(['NaN', 'Infinity', '-Infinity'])('refuses the decimal %s, naming the field', (text) => {
    const write = compileWriter(DECIMAL, 'amount');
    expect(() => write(new Decimal(text))).toThrow(ValidationError);
    expect(() => write(new Decimal(text))).toThrow('amount must be a finite number');
  });

  test('refuses an invalid date, naming the field', () => {
    const write = compileWriter({ kind: 'instant' }, 'dueDate');
    expect(() => write(new Date(Number.NaN))).toThrow(ValidationError);
    expect(() => write(new Date(Number.NaN))).toThrow('dueDate is not a valid date');
  });

  test('refuses a number that is not finite in a document', () => {
    expect(() => compileWriter({ kind: 'json' }, 'ratios')([Number.NaN])).toThrow(
      'ratios must hold finite numbers',
    );
  });
});

describe('compileObjectWriter', () => {
  const write = compileObjectWriter([
    { name: 'text', type: { kind: 'string' } },
    { name: 'amount', type: DECIMAL, nullable: true },
    { name: 'a"b', type: { kind: 'boolean' }, optional: true },
  ]);

  test('writes only its fields, in their order', () => {
    const object = { secret: 'x', 'a"b': true, amount: new Decimal('0.5'), text: 't' };
    expect(write(object)).toBe('{"text":"t","amount":"0.5","a\\"b":true}');
  });

  test('leaves out absent fields and keeps null', () => {
    expect(write({ amount: null, 'a"b': undefined })).toBe('{"amount":null}');
    expect(write({})).toBe('{}');
  });

  test('writes any text so that JSON.parse restores it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, flag) => {
        expect(JSON.parse(write({ text, 'a"b': flag }))).toEqual({ text, 'a"b': flag });
      }),
    );
  });

  test('does not write inherited properties', () => {
    const writeOwn = compileObjectWriter([{ name: 'toString', type: { kind: 'string' }, optional: true }]);
    expect(writeOwn({})).toBe('{}');
  });
});
