import type { PooledConnection } from './pooled-connection.js';
import type { Rows, Statement } from './shard-database.js';

export interface RunOptions<C> {
  /** `time.nowMs()` time. */
  readonly deadlineAt: number;
  /**
   * Called when the connection may be used by another caller, before the result is returned. A run with it is a
   * transaction of its own and must not leave one open.
   */
  readonly release?: ((connection: C) => void) | undefined;
  /** What a statement may follow, or be followed by. Default: it has the connection to itself. */
  readonly pipeline?: object | undefined;
  /** Receives the execution time and the commit time of a successful run, in milliseconds. */
  readonly onCommit?: ((executionMs: number, commitMs: number) => void) | undefined;
}

/** A connection that sends statements, one at a time, or one behind the other. */
export interface RunnableConnection<C> extends PooledConnection {
  /** True while a transaction is open, also a failed one. */
  readonly inTransaction: boolean;
  run(statement: Statement, options: RunOptions<C>): Promise<Rows>;
  script(sql: string, options: RunOptions<C>): Promise<Rows>;
  /**
   * Sends a single statement behind the one under way, if that is of the same pipeline and nothing follows it;
   * undefined if it has to be sent elsewhere. Whichever of them ends last releases the connection. Absent: it always
   * has to.
   */
  follow?(statement: Statement, options: RunOptions<C>): Promise<Rows> | undefined;
}
