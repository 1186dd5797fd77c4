import { currentPerformScope } from '../../action/perform-scope.js';
import { deadlines } from '../../concurrency/deadlines.js';
import { time } from '../../concurrency/time.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DeadlineExceededError, FwError, WriteInPerformError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { publicError } from '../../sharding/public-error.js';

/** Most time for one shard's part of a query outside of an execution, in milliseconds. */
export const DEFAULT_QUERY_TIMEOUT_MS = 1_800;

/** What many shards answered. Nothing that is missing goes unmentioned. */
export interface ScatterResult<T> {
  /** What was found, in the order of the shards. */
  readonly items: readonly T[];
  /** Shards whose part is missing from `items`. Empty: the result is whole. */
  readonly failures: readonly ShardFailure[];
}

/** A shard that did not answer. */
export interface ShardFailure {
  readonly shard: ShardIdentifier;
  readonly error: FwError;
}

/** The time that one query has on one shard. */
export interface ShardDeadline {
  /** Milliseconds from the start; inside of an execution at most what that has left. */
  readonly timeoutMs: number;
}

/** How long each shard has for a query that starts now. */
export function shardDeadline(timeoutMs: number = DEFAULT_QUERY_TIMEOUT_MS): ShardDeadline {
  return { timeoutMs: Math.min(timeoutMs, currentPerformScope()?.remainingMs() ?? Number.POSITIVE_INFINITY) };
}

/** Runs one query on many shards at once and keeps what succeeded apart from what did not. */
export async function scatter<T>(
  shards: readonly ShardIdentifier[],
  { timeoutMs }: ShardDeadline,
  query: (shard: ShardIdentifier) => Promise<readonly T[]>,
): Promise<ScatterResult<T>> {
  const answers = await Promise.all(shards.map((shard) => answerOf(shard, timeoutMs, query)));
  return {
    items: answers.flatMap((answer) => ('items' in answer ? answer.items : [])),
    failures: answers.flatMap((answer) => ('error' in answer ? [answer] : [])),
  };
}

/**
 * Runs one query on one shard.
 *
 * @throws DeadlineExceededError after `timeoutMs`, and the public error for whatever went wrong on the shard
 */
export async function onShard<T>(
  shard: ShardIdentifier,
  timeoutMs: number,
  query: (shard: ShardIdentifier) => Promise<T>,
): Promise<T> {
  const late = (): Error => new DeadlineExceededError(`Shard ${shard} did not answer within ${timeoutMs} ms`);
  try {
    return await deadlines.race(query(shard), time.nowMs() + timeoutMs, late);
  } catch (error) {
    throw error instanceof DriverFailure ? publicError(error, shard) : error;
  }
}

async function answerOf<T>(
  shard: ShardIdentifier,
  timeoutMs: number,
  query: (shard: ShardIdentifier) => Promise<readonly T[]>,
): Promise<{ readonly items: readonly T[] } | ShardFailure> {
  try {
    return { items: await onShard(shard, timeoutMs, query) };
  } catch (error) {
    // A query that is wrong in itself is no failure of a shard.
    if (!(error instanceof FwError) || error instanceof WriteInPerformError) throw error;
    return { shard, error };
  }
}
