import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnsOfFields } from '../../domain/column-set.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { accountModel } from '../../domain/test-support/account.js';
import { RowCodec } from './row-codec.js';
import { TableUpdates } from './update-columns.js';

const account = accountModel as unknown as ModelDescriptor;
const fields = account.columns.map(({ field }) => field);
const sets = fc.subarray(fields).map((chosen) => columnsOfFields(account, chosen));

test('whatever is updated, there are few statements, and each sets what its rows change', () => {
  fc.assert(
    fc.property(fc.array(fc.array(sets, { minLength: 1, maxLength: 5 }), { maxLength: 200 }), (flushes) => {
      const updates = new TableUpdates(RowCodec.of(account));
      const keys = new Set<string>();
      for (const flush of flushes) {
        const { key, columns } = updates.of(flush);
        keys.add(key);
        const all = columns.map(({ position }) => position);
        const always = columns.filter(({ isFlagged }) => !isFlagged).map(({ position }) => position);
        for (const { positions } of flush) {
          expect(all).toEqual(expect.arrayContaining([...positions]));
          expect(positions).toEqual(expect.arrayContaining(always));
        }
      }
      expect(keys.size).toBeLessThanOrEqual(8 + fields.length);
    }),
    { numRuns: 200 },
  );
});

test('rows that all change the same columns set these and no other', () => {
  const updates = new TableUpdates(RowCodec.of(account));
  const set = columnsOfFields(account, ['balance']);
  const { columns } = updates.of([set, set]);
  expect(columns.map(({ column, isFlagged }) => [column.descriptor.field, isFlagged])).toEqual([
    ['version', false],
    ['balance', false],
  ]);
});
