import { expect, test } from 'vitest';
import { sqlPattern } from './sql-pattern.js';

test.each([
  ['^[A-Z]{2}$', '^[A-Z]{2}$'],
  ['^\\d+$', '^[0-9]+$'],
  ['[\\w.-]+@x\\.y', '[A-Za-z0-9_.-]+@x\\.y'],
  ['^(?:a|b)?.$', '^(?:a|b)?[^\\n\\r\\u2028\\u2029]$'],
  ["it's", "it's"],
])('%s is %s', (pattern, sql) => {
  expect(sqlPattern(pattern)).toBe(sql);
});

test.each([
  ...['\\bword', '\\s', '(?=a)', '(?<name>a)', '(a)\\1', '\\p{L}', 'a+?', 'a{300}', '[\\S]'],
  '\\u{1F600}',
])('%s cannot be a check', (pattern) => {
  expect(sqlPattern(pattern)).toBeUndefined();
});
