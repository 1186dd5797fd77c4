import { expect, test } from 'vitest';
import { kindOf } from './kinds.js';

test.each([
  [['a', 'b'], 'text'],
  [[1, 2.5], 'double precision'],
  [[true], 'boolean'],
  [['a', 1], undefined],
  [[1, true], undefined],
  [[], 'text'],
] as const)('the values %j are held by a column of %s, or by a document', (values, sqlType) => {
  const type = { kind: 'enum', values } as const;
  expect(kindOf(type).column?.(type)?.sqlType).toBe(sqlType);
});
