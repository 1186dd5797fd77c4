import { describe, expect, test } from 'vitest';
import { allColumns, changedColumns, columnsOfFields, fieldsOf, unionOf } from './column-set.js';
import { Decimal } from './decimal.js';
import type { ModelDescriptor } from './entity.js';
import { baseOf, type Entity, markStored } from './entity.js';
import { ShardedId } from './id.js';
import { ShardIdentifier } from './shard-identifier.js';
import { Account, AccountBuilder, accountModel, newAccount } from './test-support/account.js';

const account = accountModel as unknown as ModelDescriptor;
const everything = fieldsOf(account, allColumns(account));
const stored = markStored(newAccount(new Decimal(5)).nickname('Al').build());

function changed(state: Entity): readonly string[] {
  return fieldsOf(account, changedColumns(account, baseOf(state), state));
}

describe('the columns that a state changes', () => {
  test('are those whose fields its builder set to other values', () => {
    expect(changed(stored.copy().balance(new Decimal(6)).build())).toEqual(['version', 'balance']);
    expect(changed(stored.copy().nickname(undefined).closedBy('bob').build())).toEqual([
      ...['version', 'nickname', 'closedBy'],
    ]);
    expect(changed(stored.copy().build())).toEqual(['version']);
  });

  test('are relative to the stored state, over any number of copies', () => {
    const twice = stored.copy().closedBy('bob').build().credit(new Decimal(1));
    expect(changed(twice)).toEqual(['version', 'balance', 'closedBy']);
    expect(changed(twice.copy().closedBy(null).build())).toEqual(['version', 'balance']);
  });

  test('are those that are not copied from it', () => {
    const { balance, closedBy } = stored;
    const based = AccountBuilder.account().copyBase(stored).balance(balance).closedBy(closedBy).build();
    expect(changed(based)).toEqual(['version', 'nickname']);
  });

  test('are all columns for a state that is not a copy of a stored one', () => {
    expect(changed(newAccount(new Decimal(5)).build())).toEqual(everything);
    expect(changed(newAccount(new Decimal(5)).build().credit(new Decimal(1)))).toEqual(everything);
    const other = ShardedId.generate(Account, ShardIdentifier.of(0, 0));
    expect(changed(stored.copy().id(other).build())).toEqual(everything);
  });
});

test('sets are joined and named', () => {
  const [one, other] = [['balance'], ['closedBy', 'gone']].map((fields) => columnsOfFields(account, fields));
  if (one === undefined || other === undefined) throw new Error('No sets');
  expect(fieldsOf(account, unionOf(account, one, other))).toEqual(['version', 'balance', 'closedBy']);
  expect(unionOf(account, one, columnsOfFields(account, ['balance', 'version', 'id']))).toBe(one);
});
