import { expect, test } from 'vitest';
import { compareExact, exactNumber, isKeptByDouble } from './exact-number.js';

test.each([
  ['0', 0n, 0],
  ['-0.00', 0n, 0],
  ['12.50', 125n, -1],
  ['-0.00125', -125n, -5],
  ['1200', 12n, 2],
  ['1e+21', 1n, 21],
  ['1.5e-7', 15n, -8],
])('%s is read without rounding', (text, digits, exponent) => {
  expect(exactNumber(text)).toEqual({ digits, exponent });
});

test.each(['', '1,5', 'NaN', 'Infinity', '0x10', '1.'])('%j is not a number', (text) => {
  expect(exactNumber(text)).toBeUndefined();
});

test('numbers are compared by their value', () => {
  const compare = (a: string, b: string): number =>
    compareExact(exactNumber(a) ?? never(), exactNumber(b) ?? never());
  expect(compare('9007199254740993', '9007199254740992')).toBe(1);
  expect(compare('0.1', '0.10')).toBe(0);
  expect(compare('-2', '-1.9999')).toBe(-1);
});

test.each([
  ['0.1', true],
  ['1000000000000000000000', true],
  ['9007199254740992', true],
  ['9007199254740993', false],
  ['12345678901234.5678', false],
  [`1${'0'.repeat(400)}`, false],
])('whether a double keeps %s: %s', (text, isKept) => {
  expect(isKeptByDouble(text)).toBe(isKept);
});

function never(): never {
  throw new Error('That is a number');
}
