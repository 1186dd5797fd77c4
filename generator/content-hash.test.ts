import { expect, test } from 'vitest';
import { contentHash, plainText } from './content-hash.js';

test('line ends and a byte order mark do not change the hash', () => {
  expect(plainText('\uFEFFa\r\nb\rc\n')).toBe('a\nb\nc\n');
  expect(contentHash('\uFEFFa\r\nb')).toBe(contentHash('a\nb'));
  expect(contentHash('a\nb')).not.toBe(contentHash('a\nb\n'));
});
