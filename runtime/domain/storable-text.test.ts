import { describe, expect, test } from 'vitest';
import { storedText } from './storable-text.js';

describe('storedText', () => {
  test('keeps storable text', () => {
    expect(storedText('Zoë\n😀')).toBe('Zoë\n😀');
  });

  test('replaces characters that cannot be stored', () => {
    expect(storedText('a\0b\ud800c')).toBe('a\uFFFDb\uFFFDc');
  });

  test('truncates a long text between two characters', () => {
    expect(storedText('x'.repeat(1_000_000))).toHaveLength(4_000);
    expect(storedText('x'.repeat(10), 5)).toBe('xxxx…');
    expect(storedText('xxx😀xxx', 5)).toBe('xxx\uFFFD…');
  });
});
