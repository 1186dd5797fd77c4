import { expect, test } from 'vitest';
import { Decimal } from '../decimal.js';
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

test.each([
  [10, 0, '1'],
  [5, 4, '1'],
  [4, 4, '0.5'],
  [38, 18, '150.5'],
])('the example of numeric(%d,%d) is stored as it is', (precision, scale, example) => {
  const type = { kind: 'decimal', precision, scale } as const;
  const kind = kindOf(type);
  expect(kind.example(type, 'x', () => null)).toBe(example);
  expect(kind.column?.(type)?.text('x')(new Decimal(example))).toBe(example);
});
