import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ProcessRegister } from './process-register.js';
import type { Rows, ShardDatabase } from './shard-database.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('does not keep a process alive while the default shard does not answer', async () => {
  const silent: Pick<ShardDatabase, 'query'> = { query: () => new Promise<Rows>(() => {}) };
  const databases = {
    defaultShard: ShardIdentifier.of(0, 0),
    database: () => silent as ShardDatabase,
    shards: () => [],
    withheld: () => undefined,
  };
  const register = new ProcessRegister(databases, { id: 'one', name: 'web-1:17' });
  let ended = false;
  const stopping = register.stop().then(() => {
    ended = true;
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(ended).toBe(false);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ended).toBe(true);
  await stopping;
});
