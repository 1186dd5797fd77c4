import { expect, test } from 'vitest';
import { columnOfEnum } from './enum-column.js';

test.each([
  [['a', 'b'], 'string'],
  [[1, 2.5], 'number'],
  [[true], 'boolean'],
  [['a', 1], 'json'],
  [[1, true], 'json'],
  [[], 'string'],
] as const)('the values %j are held by a column of %s', (values, kind) => {
  expect(columnOfEnum({ kind: 'enum', values })).toBe(kind);
});
