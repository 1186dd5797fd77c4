import type { PooledConnection } from './pooled-connection.js';
import type { Rows, Statement } from './shard-database.js';

export interface RunOptions<C> {
  /** In `time.nowMs()` time. */
  readonly deadlineAt: number;
  /**
   * Called when another caller may use the connection, before the result is returned. Such a run is a transaction of
   * its own and must not leave one open.
   */
  readonly release?: ((connection: C) => void) | undefined;
  /**
   * Statements with the same object may follow each other on a connection. Default: the statement has the connection to
   * itself.
   */
  readonly pipeline?: object | undefined;
  /** Receives the execution time and the commit time of a successful run, in milliseconds. */
  readonly onCommit?: ((executionMs: number, commitMs: number) => void) | undefined;
}

/** A connection that sends statements one at a time, or pipelines them. */
export interface RunnableConnection<C> extends PooledConnection {
  /** True while a transaction is open, even a failed one. */
  readonly inTransaction: boolean;
  run(statement: Statement, options: RunOptions<C>): Promise<Rows>;
  script(sql: string, options: RunOptions<C>): Promise<Rows>;
  /**
   * Pipelines a single statement behind the current one, if that has the same pipeline and no follower; undefined if
   * the statement must be sent elsewhere. The statement that ends last releases the connection. Absent: the connection
   * does not pipeline.
   */
  follow?(statement: Statement, options: RunOptions<C>): Promise<Rows> | undefined;
}
