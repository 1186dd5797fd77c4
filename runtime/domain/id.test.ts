import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { Id, idNamed, isVersion7, ShardedId, shardOfUuid } from './id.js';
import { ShardIdentifier } from './shard-identifier.js';
import { Account } from './test-support/account.js';
import { Note } from './test-support/note.js';

const UUID4 = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const UUID7 = '0194e4a1-7c00-7000-8040-000000000001';

describe('Id', () => {
  test('holds the UUID of one model', () => {
    const id = Id.of(Note, UUID4.toUpperCase());
    expect(id.getValue()).toBe(UUID4);
    expect(id.modelName).toBe('Note');
    expect(`${id}`).toBe(UUID4);
    expect(JSON.stringify({ id })).toBe(`{"id":"${UUID4}"}`);
  });

  test('equals only an id of the same model with the same UUID', () => {
    const id = Id.of(Account, UUID7);
    expect(id.equals(Id.of(Account, UUID7))).toBe(true);
    expect(id.equals(ShardedId.of(Account, UUID7))).toBe(true);
    expect(id.equals(Id.of(Note, UUID7))).toBe(false);
    expect(id.equals(Id.of(Account, UUID4))).toBe(false);
    expect(id.equals(undefined)).toBe(false);
    expect(id.equals(null)).toBe(false);
  });

  test('can be created from the name of a model', () => {
    expect(idNamed('Note', UUID4).equals(Id.of(Note, UUID4))).toBe(true);
  });

  test('refuses a text that is not a UUID', () => {
    expect(() => Id.of(Note, 'not-a-uuid')).toThrow(ValidationError);
  });
});

describe('ShardedId', () => {
  test.each([
    [0, 0, '8000'],
    [1, 0, '8040'],
    [0, 1, '8001'],
    [0, 63, '803f'],
    [255, 63, 'bfff'],
  ])('of shard (%d, %d) has %s as its fourth block', (group, member, block) => {
    const id = ShardedId.generate(Account, ShardIdentifier.of(group, member));
    expect(id.getValue().split('-')[3]).toBe(block);
  });

  test('preserves each of the 16,384 shards in its text form', () => {
    for (let bits = 0; bits < 256 * 64; bits += 1) {
      const shard = ShardIdentifier.fromBits(bits);
      const uuid = ShardedId.generate(Account, shard).getValue();
      if (shardOfUuid(uuid) !== shard || ShardedId.of(Account, uuid).resolveShardIdentifier() !== shard) {
        expect.fail(`${uuid} does not name ${shard}`);
      }
    }
  });

  test('may be written in upper case', () => {
    const id = ShardedId.generate(Account, ShardIdentifier.of(171, 42));
    const read = ShardedId.of(Account, id.getValue().toUpperCase());
    expect(read.equals(id)).toBe(true);
    expect(read.resolveShardIdentifier()).toBe(ShardIdentifier.of(171, 42));
  });

  test.each([1, 2, 3, 4, 5, 6, 8] as const)('refuses a UUID of version %d', (version) => {
    fc.assert(
      fc.property(fc.uuid({ version }), (uuid) => {
        expect(isVersion7(uuid)).toBe(false);
        expect(() => ShardedId.of(Account, uuid)).toThrow(ValidationError);
      }),
    );
  });

  test.each([
    ...[...'01234567cdef'].map((variant) => `0194e4a1-7c00-7000-${variant}040-000000000001`),
    ...['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ])('refuses %s, which has another variant or no version', (uuid) => {
    expect(() => ShardedId.of(Account, uuid)).toThrow('a UUID of version 7 is expected');
  });
});
