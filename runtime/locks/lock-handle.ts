import type { ShardIdentifier } from '../domain/shard-identifier.js';

/** A held lock. */
export interface LockHandle {
  readonly shard: ShardIdentifier;
  readonly name: string;
  /**
   * Fencing token: increases with every owner of this name. Pass it to the resource that the lock protects, which must
   * refuse a token lower than one it has seen. For writes on the lock's own shard use `lockCondition`.
   */
  readonly token: bigint;
  /** Aborted with a `LockLostError` when the hold time expires before `release`. Pass it to work under the lock. */
  readonly signal: AbortSignal;
  /**
   * Queries the database. The lock can still be lost a moment later; only a fenced write is safe.
   *
   * @throws LockLostError if the lock is lost
   * @throws ShardUnavailableError, ShardBusyError
   */
  verify(): Promise<void>;
  /**
   * Extends the lock to this time from now, in milliseconds. Default: the initial hold time.
   *
   * @throws ValidationError for a time below 1 or above a day
   * @throws LockLostError if the lock is lost @throws ShardUnavailableError, ShardBusyError
   */
  extend(holdMs?: number): Promise<void>;
  /**
   * Releases the lock. Calls after the first have no effect. Never throws: if the database is unreachable, the lock
   * expires after its hold time.
   */
  release(): Promise<void>;
}

/** An SQL condition with its values. */
export interface SqlCondition {
  readonly text: string;
  readonly values: readonly string[];
}
