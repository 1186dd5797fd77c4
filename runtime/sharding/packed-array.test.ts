import { describe, expect, test } from 'vitest';
import { PackedArray } from './packed-array.js';

const ID = '018f0a1b-2c3d-7e4f-8a5b-6c7d8e9f0123';

describe('A packed array', () => {
  test.each([
    ['braces', `{${ID}}`],
    ['no hyphens', ID.replaceAll('-', '')],
    ['misplaced hyphens', ID.replace('2c3d-7', '2c3d7-')],
    ['other characters', ID.replace('0123', '012g')],
    ['characters beyond ASCII', ID.replace('0123', '012\u0133')],
    ['a digit too few', ID.slice(1)],
    ['nothing', ''],
  ])('is not made of UUIDs with %s', (_, id) => {
    expect(PackedArray.ofUuids([ID, id])).toBeUndefined();
  });

  test.each([Number.NaN, Date.parse('0000-12-31T23:59:59.999Z'), Date.parse('+010000-01-01T00:00:00Z')])(
    'is not made of the instant %d',
    (milliseconds) => {
      expect(PackedArray.ofInstants([new Date(0), new Date(milliseconds)])).toBeUndefined();
    },
  );
});
