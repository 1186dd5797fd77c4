import { currentPerformScope } from '../../action/perform-scope.js';
import { deadlines } from '../../concurrency/deadlines.js';
import { time } from '../../concurrency/time.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DeadlineExceededError, FwError, WriteInPerformError } from '../../errors.js';
import { callShard } from '../../sharding/public-error.js';

/** Default time limit of a query on one shard outside of an execution, in milliseconds. */
const DEFAULT_QUERY_TIMEOUT_MS = 1_800;

/** The combined results of many shards, with the failures of the shards that did not answer. */
export interface ScatterResult<T> {
  /** The results, in the order of the shards. */
  readonly items: readonly T[];
  /** Shards whose results are missing from `items`. Empty: the result is complete. */
  readonly failures: readonly ShardFailure[];
}

/** A shard that did not answer. */
export interface ShardFailure {
  readonly shard: ShardIdentifier;
  readonly error: FwError;
}

/**
 * The time limit of each shard for a query that starts now, in milliseconds; inside an execution at most its remaining
 * time.
 */
export function shardTimeoutMs(timeoutMs: number = DEFAULT_QUERY_TIMEOUT_MS): number {
  return Math.min(timeoutMs, currentPerformScope()?.remainingMs() ?? Number.POSITIVE_INFINITY);
}

/** Runs one query on many shards in parallel and separates results from failures. */
export async function scatter<T>(
  shards: readonly ShardIdentifier[],
  timeoutMs: number,
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
 * @throws DeadlineExceededError after `timeoutMs`, and the public error for any failure of the shard
 */
export async function onShard<T>(
  shard: ShardIdentifier,
  timeoutMs: number,
  query: (shard: ShardIdentifier) => Promise<T>,
): Promise<T> {
  const late = (): Error => new DeadlineExceededError(`Shard ${shard} did not answer within ${timeoutMs} ms`);
  return callShard(shard, () => deadlines.race(query(shard), time.nowMs() + timeoutMs, late));
}

async function answerOf<T>(
  shard: ShardIdentifier,
  timeoutMs: number,
  query: (shard: ShardIdentifier) => Promise<readonly T[]>,
): Promise<{ readonly items: readonly T[] } | ShardFailure> {
  try {
    return { items: await onShard(shard, timeoutMs, query) };
  } catch (error) {
    // An invalid query is not a failure of the shard.
    if (!(error instanceof FwError) || error instanceof WriteInPerformError) throw error;
    return { shard, error };
  }
}
