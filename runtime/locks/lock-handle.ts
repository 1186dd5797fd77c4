import type { ShardIdentifier } from '../domain/shard-identifier.js';

/** A held lock. */
export interface LockHandle {
  readonly shard: ShardIdentifier;
  readonly name: string;
  /**
   * Fencing token: rises with every owner of this name. Hand it to whatever the lock protects, and have that refuse a
   * token lower than one it has seen; for writes on the lock's own shard there is `lockCondition`.
   */
  readonly token: bigint;
  /**
   * Aborted with a `LockLostError` when the hold runs out before `release`. Hand it to whatever runs under the lock.
   */
  readonly signal: AbortSignal;
  /**
   * Asks the database. Even so the lock can be lost a moment later: only a fenced write is safe.
   *
   * @throws LockLostError if the lock is lost @throws ShardUnavailableError, ShardBusyError
   */
  verify(): Promise<void>;
  /**
   * Extends the lock to this time from now, in milliseconds. Default: the initial hold time.
   *
   * @throws LockLostError if the lock is lost @throws ShardUnavailableError, ShardBusyError
   */
  extend(holdMs?: number): Promise<void>;
  /** Runs `work` so that acquiring the same lock inside of it succeeds at once. */
  run<T>(work: () => T): T;
  /**
   * Gives the lock back. Calls after the first have no effect. Never throws: where the database cannot be reached, the
   * lock is released when its hold time expires.
   */
  release(): Promise<void>;
}

/** A condition of SQL with its values. */
export interface SqlCondition {
  readonly text: string;
  readonly values: readonly string[];
}
