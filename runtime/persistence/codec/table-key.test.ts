import { expect, test } from 'vitest';
import type { ModelDescriptor } from '../../domain/descriptor.js';
import { accountModel } from '../../domain/test-support/account.js';
import { planOf } from '../test-support/plans.js';
import { foldGroup } from '../write/folded-group.js';
import { asLonePlan, loneShapeKey } from '../write/lone-flush.js';
import { tableKey } from './table-key.js';

const account = accountModel as unknown as ModelDescriptor;

test('models of one name but other tables or columns have other keys', () => {
  const [first, ...others] = account.columns;
  const renamed = { ...first, column: 'key' } as (typeof account.columns)[number];
  const models = [account, { ...account, table: 'others' }, { ...account, columns: [renamed, ...others] }];
  expect(new Set(models.map(tableKey)).size).toBe(3);
});

test('the same table and columns have the same key', () => {
  expect(tableKey({ ...account })).toBe(tableKey(account));
});

test('a lone plan has the text of its own table, whatever model had the name before', () => {
  const keys = ['accounts', 'other_accounts'].map((table) => {
    const plan = planOf('a1>2');
    const items = plan.items.map((item) => ({ ...item, descriptor: { ...item.descriptor, table } }));
    const lone = asLonePlan({ ...plan, items }, foldGroup([{ ...plan, items }]));
    return lone && loneShapeKey(lone, false);
  });
  expect(new Set(keys).size).toBe(2);
});
