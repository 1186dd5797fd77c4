import type { ConnectionBudget } from './connection-budget.js';

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

export interface ConnectionPoolOptions<C extends PooledConnection> {
  /** Maximum open connections. */
  readonly maximumSize: number;
  /** A connection that was idle for this time is closed, in milliseconds. `Infinity`: never. */
  readonly idleTimeoutMs: number;
  /** A connection of this age is closed when it is released, in milliseconds. `Infinity`: never. */
  readonly maximumLifetimeMs: number;
  /** Default of `CallOptions.timeoutMs`. */
  readonly defaultTimeoutMs: number;
  /** Host, port and database, for messages. */
  readonly description: string;
  /** Opens a connection within its own time limit. */
  readonly open: () => Promise<C>;
  /**
   * Called when statements may from now on reach another server: a connection was opened or lost, or the last one was
   * closed.
   */
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
