import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from './decimal.js';
import type { FieldDescriptor } from './descriptor.js';
import { Id, ShardedId } from './id.js';
import type { JsonValue } from './json.js';
import { compileObjectReader, compileObjectWriter } from './json-codec.js';
import { ShardIdentifier } from './shard-identifier.js';
import { Account } from './test-support/account.js';

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
