import { expect, test } from 'vitest';
import type { ModelDescriptor } from '../../domain/entity.js';
import { accountModel } from '../../domain/test-support/account.js';
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
