import { expect, test } from 'vitest';
import { editDistance, suggest } from './suggest.js';

test.each([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['abc', 'acb', 1],
  ['abc', 'abd', 1],
  ['kitten', 'sitting', 3],
])('from %j to %j it takes %i edits', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
});

const KEYS = ['jdbc-url', 'username', 'password', 'maximum-pool-size', 'idle-timeout-ms'];

test.each([
  ['max-pool-size', 'maximum-pool-size'],
  ['maximumPoolSise', 'maximum-pool-size'],
  ['pool-size', 'maximum-pool-size'],
  ['pasword', 'password'],
  ['USERNAME', 'username'],
  ['user', 'username'],
  ['url', 'jdbc-url'],
  ['zzz', undefined],
  ['', undefined],
  ['u', undefined],
  [`${'password'.repeat(100)}`, undefined],
])('for %s it suggests %s', (word, expected) => {
  expect(suggest(word, KEYS)).toBe(expected);
});
