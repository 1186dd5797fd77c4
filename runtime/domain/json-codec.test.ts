import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { currency } from './currency.js';
import { Decimal } from './decimal.js';
import type { FieldDescriptor, FieldType } from './descriptor.js';
import { Id, ShardedId } from './id.js';
import type { JsonValue } from './json.js';
import { compileObjectReader, compileObjectWriter, compileWriter } from './json-codec.js';
import { ShardIdentifier } from './shard-identifier.js';
import { Account } from './test-support/account.js';
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

  test('lets no currency of an untyped caller break out of its JSON text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('true,"b":1', '1"},{"b":"2'));
    fc.assert(
      fc.property(text, (value) => {
        expect(JSON.parse(compileWriter({ kind: 'currency' }, 'field')(value))).toBe(value);
      }),
    );
  });

  test.each<[FieldType, unknown, string]>([
    [{ kind: 'string' }, 12.5, 'a string'],
    [{ kind: 'string' }, { a: 1 }, 'a string'],
    [{ kind: 'currency' }, 5, 'a string'],
    [{ kind: 'bigint' }, 5, 'a bigint'],
    [{ kind: 'boolean' }, 'true', 'true or false'],
    [{ kind: 'enum', values: ['a', 'b'] }, 'c', 'one of a, b'],
    [{ kind: 'list', of: { kind: 'string' } }, ['a', 5], 'a string'],
  ])('refuses what a reader of %j would refuse: %j', (type, value, expected) => {
    expect(() => compileWriter(type, 'field')(value)).toThrow(`field must be ${expected}`);
  });

  test.each<[FieldType, unknown, string]>([
    [{ kind: 'number' }, Number.NaN, 'field must be a finite number'],
    [{ kind: 'number' }, Number.POSITIVE_INFINITY, 'field must be a finite number'],
    ...['NaN', 'Infinity', '-Infinity'].map((text): [FieldType, unknown, string] => [
      DECIMAL,
      new Decimal(text),
      'field must be a finite number',
    ]),
    [{ kind: 'instant' }, new Date(Number.NaN), 'field is not a valid date'],
    [{ kind: 'json' }, [Number.NaN], 'field[0] must be a finite number'],
    ...['x"},{"y":"z', `{${UUID}}`, UUID.replaceAll('-', ''), `${UUID}"`, ''].map(
      (text): [FieldType, unknown, string] => [{ kind: 'uuid' }, text, 'field is not a UUID'],
    ),
  ])('refuses for %j: %s', (type, value, message) => {
    const write = compileWriter(type, 'field');
    expect(() => write(value)).toThrow(ValidationError);
    expect(() => write(value)).toThrow(message);
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

  test('names the owner and the field of a value of another type', () => {
    const owned = compileObjectWriter(
      [{ name: 'at', type: { kind: 'id', model: 'M', sharded: false } }],
      'Act',
    );
    expect(() => owned({ at: 'text' })).toThrow(ValidationError);
    expect(() => owned({ at: 'text' })).toThrow(
      'at of Act has another type: value.getValue is not a function',
    );
  });

  test('leaves out absent fields and keeps null', () => {
    expect(write({ amount: null, 'a"b': undefined })).toBe('{"amount":null}');
    expect(write({})).toBe('{}');
  });

  test('does not write inherited properties', () => {
    const writeOwn = compileObjectWriter([{ name: 'toString', type: { kind: 'string' }, optional: true }]);
    expect(writeOwn({})).toBe('{}');
  });
});

const FIELDS: readonly FieldDescriptor[] = [
  { name: 'title', type: { kind: 'string' } },
  { name: 'count', type: { kind: 'number' } },
  { name: 'big', type: { kind: 'bigint' } },
  { name: 'open', type: { kind: 'boolean' } },
  { name: 'at', type: { kind: 'instant' } },
  { name: 'amount', type: { kind: 'decimal', precision: 38, scale: 10 } },
  { name: 'owner', type: { kind: 'id', model: 'Account', sharded: true } },
  { name: 'plain', type: { kind: 'id', model: 'Account', sharded: false } },
  { name: 'state', type: { kind: 'enum', values: ['OPEN', 'GONE'] } },
  { name: 'note', type: { kind: 'string' }, optional: true },
  { name: 'closedBy', type: { kind: 'string' }, nullable: true },
  { name: 'amounts', type: { kind: 'list', of: { kind: 'decimal', precision: 38, scale: 10 } } },
  { name: 'inner', type: { kind: 'object', fields: [{ name: 'constructor', type: { kind: 'string' } }] } },
];

const VALUES = {
  title: 'x"\u2028',
  count: 0.1,
  big: 2n ** 70n,
  open: true,
  at: new Date('2024-05-01T10:00:00.123Z'),
  amount: new Decimal('-12.5'),
  owner: ShardedId.generate(Account, ShardIdentifier.of(3, 2)),
  plain: Id.of(Account, '00000000-0000-4000-8000-000000000001'),
  state: 'OPEN',
  closedBy: null,
  amounts: [new Decimal('0.0001')],
  inner: { constructor: 'own' },
};

const write = compileObjectWriter(FIELDS);
const read = compileObjectReader(FIELDS);

function roundTrip(values: object): Readonly<Record<string, unknown>> {
  return read(JSON.parse(write(values)) as JsonValue);
}

describe('a type that contains itself', () => {
  const again: FieldType = { kind: 'again', name: 'Folder' };
  const fields: readonly FieldDescriptor[] = [
    { name: 'at', type: { kind: 'instant' } },
    { name: 'folder', type: again, optional: true },
  ];
  const folder: FieldType = { kind: 'recursive', name: 'Folder', of: { kind: 'object', fields } };
  const writeFolder = compileObjectWriter([{ name: 'root', type: folder }]);
  const nested = (levels: number): object => {
    let root: object = { at: new Date(0) };
    for (let level = 1; level < levels; level += 1) root = { at: new Date(0), folder: root };
    return { root };
  };

  test('is written with a thousand levels', () => {
    expect(JSON.parse(writeFolder(nested(1_000)))).toEqual(JSON.parse(JSON.stringify(nested(1_000))));
  });

  test.each([1_001, 100_000])('is refused with %d levels, which end an embedded database', (levels) => {
    expect(() => writeFolder(nested(levels))).toThrow('root has more than 1000 levels');
  });
});

describe('a compiled object reader', () => {
  test('restores the writer’s input, including types', () => {
    const values = roundTrip(VALUES);
    expect(values).toEqual(VALUES);
    expect(values['owner']).toBeInstanceOf(ShardedId);
    expect(Decimal.isDecimal(values['amount'])).toBe(true);
  });

  test('leaves an absent optional field absent', () => {
    expect(Object.hasOwn(roundTrip(VALUES), 'note')).toBe(false);
  });

  test('restores any text and any number', () => {
    fc.assert(
      fc.property(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), (title, count) => {
        const values = roundTrip({ ...VALUES, title, count });
        expect(values['title']).toBe(title);
        expect(values['count']).toBe(count === 0 ? 0 : count);
      }),
    );
  });

  test.each([
    ['title', 5],
    ['count', '5'],
    ['big', 'x'],
    ['at', 'yesterday'],
    ['amount', '1,5'],
    ['state', 'LOST'],
    ['amounts', 'none'],
    ['closedBy', 5],
  ])('refuses %s = %j by name', (field, value) => {
    const json = { ...(JSON.parse(write(VALUES)) as object), [field]: value };
    expect(() => read(json)).toThrow(expect.objectContaining({ code: 'FW_VALIDATION', field }));
  });

  test('refuses an object without a required field', () => {
    expect(() => read({})).toThrow('title is missing');
  });
});

test('absent items at the end of a tuple stay absent', () => {
  const number = { type: { kind: 'number' } } as const;
  const absent = { ...number, optional: true } as const;
  const type = { kind: 'tuple', items: [number, absent, absent] } as const;
  const write = compileWriter(type, 'pair');
  expect([[1, undefined, undefined], [1, 2, undefined], [1, 2, 3], [1]].map(write)).toEqual([
    '[1]',
    '[1,2]',
    '[1,2,3]',
    '[1]',
  ]);
  // As null, it would be read as null.
  expect(() => write([1, undefined, 3])).toThrow('pair[1] must be a value: JSON has no absent items');
});
