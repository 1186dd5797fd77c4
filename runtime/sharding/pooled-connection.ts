import type { DataSourceConfig } from '../config/types.js';
import type { ConnectionBudget } from './connection-budget.js';
import type { Rows, Statement } from './shard-database.js';

/** The part of a connection that the pool uses. Each connection has one user at a time. */
export interface PooledConnection {
  /** False once the connection is lost or its state is in doubt; never true again. */
  readonly usable: boolean;
  /** The deadline of the calls in flight (`time.nowMs()` time); `Infinity` without any. */
  readonly deadlineAt: number;
  /** Called by the pool's sweep when `deadlineAt` has passed: fails the calls and destroys the connection. */
  expire(): void;
  /** Closes the connection with a protocol message. Resolves when its resources are free. */
  close(): Promise<void>;
  /**
   * Closes the connection without a protocol message, because its state is in doubt.
   *
   * @returns when the server's side is closed, or cannot exist any more; undefined: it is closed already
   */
  destroy(): Promise<void> | undefined;
}

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

/** When pooled connections are closed. */
export interface ConnectionAges {
  /** After this time without use, in milliseconds; `Infinity`: never. Default 30,000. */
  readonly idleTimeoutMs?: number;
  /** When it is next idle after this time, in milliseconds; `Infinity`: never. Default 1,800,000. */
  readonly maximumLifetimeMs?: number;
}

export interface ConnectionPoolOptions<C> {
  readonly limits: Pick<DataSourceConfig, 'maximumPoolSize' | 'statementTimeoutMs'> & ConnectionAges;
  /** Host, port and database, for messages. */
  readonly description: string;
  /**
   * Opens a connection within its own time limit. It must call `onLost` when it is lost later, whether idle or in use.
   */
  readonly open: (onLost: (connection: C) => void) => Promise<C>;
  /** See `AdapterOptions`. */
  readonly serverInDoubt?: (() => void) | undefined;
  /** The connection limit that the pool shares with others. Default: none. */
  readonly budget?: ConnectionBudget | undefined;
}

/** A caller that waits for a connection. */
export interface Waiter<C> {
  readonly since: number;
  readonly deadlineAt: number;
  /** How long it waits for one of the open connections, in milliseconds. */
  readonly waitMs: number;
  readonly grant: (connection: C) => void;
  readonly refuse: (failure: unknown) => void;
}

/** An idle connection, and the time since when it is idle. */
export interface Idle<C> {
  readonly connection: C;
  since: number;
}
