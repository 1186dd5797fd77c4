import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../domain/decimal.js';
import { Entity, instantiate, type ModelDescriptor } from '../../domain/entity.js';
import { Id } from '../../domain/id.js';
import type { JsonValue } from '../../domain/json.js';
import { Account, accountModel, newAccount } from '../../domain/test-support/account.js';
import { Note, newNote } from '../../domain/test-support/note.js';
import { PlanMisuseError, UnknownModelError, ValidationError } from '../../errors.js';
import { ResultJson } from './result-json.js';

const results = new ResultJson([accountModel as unknown as ModelDescriptor]);

/** The result that a repeat under the same idempotency key receives. */
function repeated(result: unknown, by = results): unknown {
  return by.read(JSON.parse(results.write(result)) as JsonValue);
}

describe('a result that is kept for a repeat', () => {
  test('of plain values comes back unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(repeated(plain)).toEqual(plain);
      }),
    );
  });

  test('whose keys start with $ comes back unchanged', () => {
    const key = fc.string({ unit: fc.constantFrom('$', 'd', 'a', 't', 'e') });
    fc.assert(
      fc.property(fc.dictionary(key, fc.integer()), (value) => {
        expect(repeated({ ...value })).toEqual({ ...value });
      }),
    );
    expect(repeated({ $date: '2024-01-01' })).toEqual({ $date: '2024-01-01' });
  });

  test.each([
    ['nothing', undefined],
    ['a bigint', 12345678901234567890n],
    ['a date', new Date('2024-02-29T12:00:00.001Z')],
    ['an id', Id.of(Note, '01890000-0000-7000-8000-000000000000')],
    ['things within things', [{ at: new Date(0), sums: [1n, null] }]],
  ])('can be %s', (_, value) => {
    expect(repeated(value)).toEqual(value);
  });

  test('can be an amount, to the last digit', () => {
    const amount = new Decimal('12345678901234567890.123456789012345678');
    const back = repeated({ amount }) as { amount: Decimal };
    expect(back.amount).toBeInstanceOf(Decimal);
    expect(back.amount.toFixed()).toBe('12345678901234567890.123456789012345678');
  });

  test('can be a model: frozen, of its class, with its sharded id', () => {
    const account = newAccount(new Decimal('10.50')).nickname(undefined).build();
    const back = repeated({ account }) as { account: Account };
    expect(back.account).toBeInstanceOf(Account);
    expect(Object.isFrozen(back.account)).toBe(true);
    expect(back.account.id.equals(account.id)).toBe(true);
    expect(back.account).toEqual(account);
  });

  test('can be a model with a field whose name starts with $', () => {
    class Priced extends Entity<Priced, Id<Priced>, 'OPEN'> {
      readonly $price!: string;
    }
    const model: ModelDescriptor<Priced> = {
      ...{ name: 'Priced', kind: 'entity', modelClass: () => Priced, table: 'priced', sharded: false },
      columns: [{ field: '$price', column: '$price', type: { kind: 'string' }, sqlType: 'text' }],
    };
    const known = new ResultJson([model as unknown as ModelDescriptor]);
    expect(repeated(instantiate(model, { $price: '5' }), known)).toHaveProperty('$price', '5');
  });

  test('of another release is a model without fields that only one of them knows', () => {
    const account = newAccount(new Decimal('10.50')).nickname('a').build();
    const [name, { nickname, ...fields }] = JSON.parse(results.write(account)).$model;
    const back = results.read({ $model: [name, { ...fields, colour: 'red' }] }) as Account;
    expect([nickname, back.nickname, 'colour' in back]).toEqual(['a', undefined, false]);
    expect(back.balance).toEqual(account.balance);
  });

  test('cannot be a model that this application does not know', () => {
    expect(() => repeated(newNote('x'))).toThrow(UnknownModelError);
  });

  test.each([
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['not a number', Number.NaN],
    ['an invalid date', new Date(Number.NaN)],
    ['a class instance', new Map()],
    ['an error', new Error('x')],
  ])('cannot be %s, which would be ambiguous when read', (_, value) => {
    expect(() => results.write({ value })).toThrow(PlanMisuseError);
  });

  test.each([
    ['text with NUL', 'a\0b'],
    ['text with half of a surrogate pair', 'a\ud800'],
    ['a name with NUL', { 'a\0b': 1 }],
  ])('cannot hold %s, which the caller may have sent', (_, value) => {
    expect(() => results.write({ value })).toThrow(ValidationError);
  });

  test('cannot contain itself', () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(() => results.write(circle)).toThrow(PlanMisuseError);
  });

  test('written by a later version is refused', () => {
    expect(() => results.read({ $matrix: [] })).toThrow(ValidationError);
  });
});
