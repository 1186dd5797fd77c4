import { expect, test } from 'vitest';
import { pendingEventsOf } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import { Account, accountModel, OPENED_AT } from '../../domain/test-support/account.js';
import { ValidationError } from '../../errors.js';
import { guestModel, newGuest } from '../../execution/test-support/guests.js';
import { PackedArray } from '../../sharding/packed-array.js';
import { RowCodec } from './row-codec.js';

const codec = RowCodec.of(accountModel);
const ID = '01890000-0000-7000-8040-000000000000';
const ROW = [ID, 'OPEN', '7', '10.5000', null, null, OPENED_AT, OPENED_AT];

const same = <V>(value: V): V => value;

test('a row becomes a frozen model without events', () => {
  const account = codec.decode(ROW);
  expect(account).toBeInstanceOf(Account);
  expect(Object.isFrozen(account)).toBe(true);
  expect(account.id).toBeInstanceOf(ShardedId);
  expect([account.id.getValue(), account.version, account.balance.toFixed()]).toEqual([ID, 7, '10.5']);
  expect(pendingEventsOf(account)).toEqual([]);
});

test('null is null where the model says null, and undefined where it says optional', () => {
  const account = codec.decode(ROW);
  expect(account.closedBy).toBeNull();
  expect(account.nickname).toBeUndefined();
});

test('null as a JSON value is a value of a required column, and no value of an optional one', () => {
  const kept = (facts: { readonly optional?: true }): unknown => {
    const state = {
      field: 'nickname',
      column: 'nickname',
      sqlType: 'jsonb',
      type: { kind: 'json' },
      ...facts,
    };
    const columns = accountModel.columns.map((each) => (each.field === 'nickname' ? state : each));
    const json = RowCodec.of({ ...accountModel, columns: columns as typeof accountModel.columns });
    const index = columns.findIndex(({ field }) => field === 'nickname');
    const account = json.decode(ROW.with(index, null));
    const { parameter } = json.columns[index] ?? expect.fail();
    return [account.nickname, parameter.one(account), parameter.many([account], same)];
  };
  expect(kept({})).toEqual([null, 'null', '{"null"}']);
  expect(kept({ optional: true })).toEqual([null, null, '{NULL}']);
});

test('models become one array for each column', () => {
  const models = [codec.decode(ROW), codec.decode(ROW)];
  const arrays = codec.columns.map((column) => String(column.parameter.many(models, same)));
  const opened = `"${OPENED_AT.toISOString()}"`;
  const elements = [ID, 'OPEN', '7', '10.5', 'NULL', 'NULL', opened, opened];
  expect(arrays).toEqual(elements.map((element) => `{${element},${element}}`));
});

test('values without a binary form are refused', () => {
  const column = codec.columns.find(({ descriptor }) => descriptor.field === 'createdDate') ?? expect.fail();
  const opened = (text: string): unknown =>
    column.parameter.many([codec.decode(ROW.with(6, new Date(text))), codec.decode(ROW)], same);
  expect(opened('2024-01-01T00:00:00Z')).toBeInstanceOf(PackedArray);
  expect(() => opened('+010000-01-01T00:00:00Z')).toThrow(ValidationError);
  expect(() => opened('never')).toThrow(ValidationError);
  const unopened = codec.decode(ROW.with(6, null));
  expect(column.parameter.many([unopened, undefined], same)).toBe('{NULL,NULL}');
});

test('a folded state must have the same key as the next one, even if its model allows folding', () => {
  const ann = newGuest('ann@hotel');
  for (const folding of [undefined, true]) {
    const guests = RowCodec.of({ ...guestModel, ...(folding && { folding }) });
    expect(() => guests.judgeReplaced(ann, ann.stayed())).not.toThrow();
    expect(() => guests.judgeReplaced(ann, ann.renamed('ann@home'))).toThrow(ValidationError);
    expect(() => guests.judgeReplaced(ann, ann.gone())).toThrow(ValidationError);
  }
  const { deletedStates: _, ...immortal } = guestModel;
  expect(() => RowCodec.of(immortal).judgeReplaced(ann, ann.gone())).not.toThrow();
});
