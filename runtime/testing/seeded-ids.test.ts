import { afterEach, describe, expect, test } from 'vitest';
import { ShardedId } from '../domain/id.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { Account } from '../domain/test-support/account.js';
import { seededIds } from './seeded-ids.js';
import { VirtualClock } from './virtual-clock.js';

let restore = (): void => {};
afterEach(() => restore());

function idsOf(seed: number, clock?: VirtualClock): readonly string[] {
  restore = seededIds(seed, clock);
  return Array.from({ length: 5_000 }, () =>
    ShardedId.generate(Account, ShardIdentifier.of(1, 2)).getValue(),
  );
}

describe('seededIds', () => {
  test('creates the same ids for the same seed', () => {
    expect(idsOf(42)).toEqual(idsOf(42));
  });

  test('creates distinct increasing ids that contain their shard', () => {
    const ids = idsOf(1);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids.every((id) => id.split('-')[3] === '8042')).toBe(true);
  });

  test.each([0, 1, 2, -1, 2 ** 32, 0x5bd1e995])('gives other ids for seed %d than for the next', (seed) => {
    const successors = new Set(idsOf(seed + 1));
    expect(idsOf(seed).filter((id) => successors.has(id))).toEqual([]);
  });

  test('uses the time of its clock', () => {
    const [id = ''] = idsOf(1, new VirtualClock('2025-06-01T00:00:00Z'));
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.UTC(2025, 5, 1));
  });

  test('restores the system’s random numbers', () => {
    const seeded = idsOf(7);
    restore();
    const later = ShardedId.generate(Account, ShardIdentifier.of(1, 2)).getValue();
    expect(seeded).not.toContain(later);
    expect(Number.parseInt(later.replace('-', '').slice(0, 12), 16)).toBeGreaterThan(Date.UTC(2025, 5, 1));
  });
});
