import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { MAX_GROUP, MAX_MEMBER, ShardIdentifier } from './shard-identifier.js';

describe('ShardIdentifier', () => {
  test('has group, member and their bits, and prints as (group, member)', () => {
    const shard = ShardIdentifier.of(2, 3);
    expect(shard).toMatchObject({ group: 2, member: 3, bits: (2 << 6) | 3 });
    expect(String(shard)).toBe('(2, 3)');
    expect([shard.equals(ShardIdentifier.of(2, 3)), shard.equals(ShardIdentifier.of(3, 2))]).toEqual([
      true,
      false,
    ]);
  });

  test('is one frozen object per group and member', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: MAX_GROUP }),
        fc.integer({ min: 0, max: MAX_MEMBER }),
        (group, member) => {
          const shard = ShardIdentifier.of(group, member);
          expect(ShardIdentifier.of(group, member)).toBe(shard);
          expect(ShardIdentifier.fromBits(shard.bits)).toBe(shard);
          expect(Object.isFrozen(shard)).toBe(true);
        },
      ),
    );
  });

  test.each([-1, 256, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses group %d', (group) => {
    expect(() => ShardIdentifier.of(group, 0)).toThrow(ValidationError);
    expect(() => ShardIdentifier.of(group, 0)).toThrow('Shard group must be an integer from 0 to 255');
  });

  test.each([-1, 64, 0.5, Number.NaN])('refuses member %d', (member) => {
    expect(() => ShardIdentifier.of(0, member)).toThrow('Shard member must be an integer from 0 to 63');
  });

  test('refuses values that are not numbers', () => {
    expect(() => ShardIdentifier.of(JSON.parse('"1"'), 0)).toThrow(ValidationError);
    expect(() => ShardIdentifier.of(0, JSON.parse('null'))).toThrow(ValidationError);
  });
});
