import { describe, expect, test } from 'vitest';
import { storedText } from './storable-text.js';

describe('storedText', () => {
  test('keeps what a database can keep', () => {
    expect(storedText('Zoë\n😀')).toBe('Zoë\n😀');
  });

  test('replaces what no database can keep', () => {
    expect(storedText('a\0b\ud800c')).toBe('a\uFFFDb\uFFFDc');
  });

  test('cuts off the end of a long text, and no character in half', () => {
    expect(storedText('x'.repeat(1_000_000))).toHaveLength(4_000);
    expect(storedText('x'.repeat(10), 5)).toBe('xxxx…');
    expect(storedText('xxx😀xxx', 5)).toBe('xxx\uFFFD…');
  });
});
