import { expect, test } from 'vitest';
import type { StagedItem } from '../action/action-plan.js';
import { Decimal } from '../domain/decimal.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { accountModel, newAccount } from '../domain/test-support/account.js';
import { newNote, noteModel } from '../domain/test-support/note.js';
import { routePlan } from './routing.js';

const [first, second, standard] = [
  ShardIdentifier.of(1, 0),
  ShardIdentifier.of(0, 1),
  ShardIdentifier.of(0, 0),
];

function accountOn(shard: ShardIdentifier): StagedItem {
  const model = newAccount(new Decimal(1), shard).build();
  return { kind: 'add', descriptor: accountModel as unknown as ModelDescriptor, model, events: [] };
}

test('a plan is split by shard: shards in the order in which they were first staged, items in staging order', () => {
  const items = [accountOn(first), accountOn(second), accountOn(first)];
  const parts = routePlan(items, standard);
  expect(parts.map(({ shard }) => shard)).toEqual([first, second]);
  expect(parts.map((part) => part.items)).toEqual([[items[0], items[2]], [items[1]]]);
});

test('models without a sharded id live on the default shard', () => {
  const note = {
    kind: 'add',
    descriptor: noteModel as unknown as ModelDescriptor,
    model: newNote('x'),
    events: [],
  };
  expect(routePlan([note as StagedItem, accountOn(standard)], standard)).toHaveLength(1);
  expect(routePlan([note as StagedItem], second)[0]?.shard).toBe(second);
});

test('an empty plan has no shard transaction', () => {
  expect(routePlan([], standard)).toEqual([]);
});
