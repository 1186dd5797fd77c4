import { afterEach, expect, test, vi } from 'vitest';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { migrationsKey } from './template.js';

afterEach(() => {
  vi.useRealTimers();
});

test('a migrated database is copied only in the week for which it has partitions ahead', () => {
  const keyAt = (date: string): string => {
    vi.useFakeTimers({ now: new Date(date), toFake: ['Date'] });
    return migrationsKey(ShardIdentifier.of(0, 0), []);
  };
  const thursday = keyAt('2026-11-26T00:00:00Z');
  expect(keyAt('2026-12-02T23:59:59Z')).toBe(thursday);
  expect(keyAt('2026-11-25T23:59:59Z')).not.toBe(thursday);
});
