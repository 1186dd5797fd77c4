import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../errors.js';
import { decodeCursor, encodeCursor, pageLimit } from './page.js';

const DIGITS = /^\d+$/;

describe('the limit of a page', () => {
  test('is 50 by default and 200 at most', () => {
    expect([pageLimit({}), pageLimit({ limit: 1 }), pageLimit({ limit: 200 })]).toEqual([50, 1, 200]);
  });

  test.each([0, -1, 201, 1.5, Number.NaN])('cannot be %d', (limit) => {
    expect(() => pageLimit({ limit })).toThrow(ValidationError);
  });
});

describe('a cursor', () => {
  test('decodes to the key that it encodes, whatever the order of the filters', () => {
    const cursor = encodeCursor('wallets', { owner: 'x', open: true }, '42');
    expect(decodeCursor(cursor, 'wallets', { open: true, owner: 'x' }, DIGITS)).toBe('42');
    expect(decodeCursor(undefined, 'wallets', {}, DIGITS)).toBeUndefined();
  });

  test('needs no escaping in a URL', () => {
    expect(encodeCursor('wallets', {}, '~~~???')).toMatch(/^[\w-]+$/);
  });

  test('with a changed, missing or doubled character is refused', () => {
    const cursor = encodeCursor('wallets', {}, '1234567890');
    const altered = [...cursor].flatMap((character, at) => {
      const [before, after] = [cursor.slice(0, at), cursor.slice(at + 1)];
      const others = [...ALPHABET].filter((other) => other !== character);
      return [
        before + after,
        before + character + cursor.slice(at),
        ...others.map((other) => before + other + after),
      ];
    });
    const accepted = altered.filter((text) => text !== cursor && accepts(text));
    expect(accepted).toEqual([]);
    expect(accepts(cursor)).toBe(true);
  });
});

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function accepts(text: string): boolean {
  try {
    return decodeCursor(text, 'wallets', {}, DIGITS) !== undefined;
  } catch {
    return false;
  }
}
