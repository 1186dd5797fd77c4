import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { Decimal } from './decimal.js';
import type { ColumnDescriptor } from './descriptor.js';
import type { ModelDescriptor } from './entity.js';
import { ModelBuilder } from './model-builder.js';
import { type Account, accountModel, newAccount } from './test-support/account.js';
import { compileRules, type ValueRules } from './value-rules.js';

/** The class of a package that requires decimal.js instead of importing it. */
const OtherDecimal: typeof Decimal = createRequire(import.meta.url)('decimal.js');

test.each<[ValueRules, unknown, string | undefined]>([
  [{ minLength: 2, maxLength: 3 }, 'ab', undefined],
  [{ minLength: 2, maxLength: 3 }, 'a', 'must have at least 2 characters'],
  [{ minLength: 2, maxLength: 3 }, 'abcd', 'must have at most 3 characters'],
  [{ maxLength: 2 }, '😀😀', undefined],
  [{ pattern: '^[A-Z]{2}$' }, 'AB', undefined],
  [{ pattern: '^[A-Z]{2}$' }, 'ab', 'must match pattern "^[A-Z]{2}$"'],
  [{ minimum: 1, maximum: 3 }, 1, undefined],
  [{ minimum: 1 }, 0.5, 'must be at least 1'],
  [{ maximum: 3 }, 4n, 'must be at most 3'],
  [{ exclusiveMinimum: 0 }, new Decimal(0), 'must be greater than 0'],
  [{ exclusiveMinimum: 0 }, new Decimal('0.0001'), undefined],
  [{ exclusiveMaximum: 10 }, new Decimal(10), 'must be less than 10'],
  [{ exclusiveMaximum: 10 }, new OtherDecimal(10), 'must be less than 10'],
  [{ integer: true }, 1.5, 'must be an integer'],
  [{ integer: true, minimum: 1 }, 0, 'must be at least 1'],
  [{ minItems: 1, maxItems: 2 }, [], 'must have at least 1 items'],
  [{ minItems: 1, maxItems: 2 }, [1, 2], undefined],
  [{ minItems: 1, maxItems: 2 }, [1, 2, 3], 'must have at most 2 items'],
  [{ maxItems: 0 }, [1], 'must have at most 0 items'],
  [{ minimum: 1, minLength: 1 }, undefined, undefined],
  [{ minimum: 1, minLength: 1 }, null, undefined],
])('%j of %s: %s', (rules, value, expected) => {
  expect(compileRules(rules)(value)).toBe(expected);
});

describe('build()', () => {
  const columns = accountModel.columns.map((column): ColumnDescriptor => {
    if (column.field === 'balance') return { ...column, rules: { minimum: 0 }, label: 'the balance' };
    return column.field === 'nickname' ? { ...column, rules: { maxLength: 5 } } : column;
  });
  const strict: ModelDescriptor<Account> = { ...accountModel, columns };

  class StrictBuilder extends ModelBuilder<Account> {
    static copyOf(account: Account): StrictBuilder {
      return new StrictBuilder(strict).copyAll(account);
    }

    with(field: keyof Account, value: unknown): this {
      return this.put(field, value);
    }

    build(): Account {
      return this.instantiate();
    }
  }
  const account = newAccount(new Decimal(5)).build();

  test('refuses values that break a rule of their field, naming its label', () => {
    const negative = StrictBuilder.copyOf(account).with('balance', new Decimal(-1));
    expect(() => negative.build()).toThrow(
      new ValidationError('the balance must be at least 0', { field: 'balance' }),
    );
    const long = StrictBuilder.copyOf(account).with('nickname', 'longer');
    expect(() => long.build()).toThrow(
      new ValidationError('nickname must have at most 5 characters', { field: 'nickname' }),
    );
  });

  test('accepts values of the copied model that are older than a rule, but no other ones', () => {
    const copy = () => StrictBuilder.copyOf(newAccount(new Decimal(-5)).build());
    expect(copy().with('nickname', 'Al').build().balance).toEqual(new Decimal(-5));
    expect(() => copy().with('balance', new Decimal(-4)).build()).toThrow('at least 0');
  });

  test('accepts values that satisfy the rules, and absent ones', () => {
    const fine = StrictBuilder.copyOf(account).with('nickname', 'Al').with('balance', new Decimal(0)).build();
    expect(fine.nickname).toBe('Al');
    expect(StrictBuilder.copyOf(fine).with('nickname', undefined).build().nickname).toBeUndefined();
  });
});
