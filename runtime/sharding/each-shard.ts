import { inParallel } from '../concurrency/in-parallel.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ValidationError } from '../errors.js';

/** The outcome of one shard. */
export type ShardOutcome<T> =
  | { readonly shard: ShardIdentifier; readonly ok: true; readonly value: T }
  | { readonly shard: ShardIdentifier; readonly ok: false; readonly error: unknown };

/** Enough to be fast with many shards, and few enough not to flood one server that holds them all. */
export const SHARDS_AT_ONCE = 8;

/**
 * Does the same work on each shard, several at a time. A failed shard does not affect the others.
 *
 * @param atOnce maximum shards at a time
 * @returns the outcomes in the order of `shards`
 * @throws ValidationError unless `atOnce` is at least 1
 */
export async function onEachShard<T>(
  shards: readonly ShardIdentifier[],
  atOnce: number,
  work: (shard: ShardIdentifier) => Promise<T>,
): Promise<readonly ShardOutcome<T>[]> {
  if (!(atOnce >= 1))
    throw new ValidationError(`atOnce must be at least 1, got ${atOnce}`, { field: 'atOnce' });
  const outcomes: ShardOutcome<T>[] = [];
  await inParallel([...shards.entries()], atOnce, async ([index, shard]) => {
    outcomes[index] = await outcomeOf(shard, work);
  });
  return outcomes;
}

async function outcomeOf<T>(
  shard: ShardIdentifier,
  work: (shard: ShardIdentifier) => Promise<T>,
): Promise<ShardOutcome<T>> {
  try {
    return { shard, ok: true, value: await work(shard) };
  } catch (error) {
    return { shard, ok: false, error };
  }
}
