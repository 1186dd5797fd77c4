import type { ConnectionBudget } from './connection-budget.js';

/** What the pool needs to know of a connection. Each connection has one user at a time. */
export interface PooledConnection {
  /** False once the link is lost or the state is in doubt; never true again. */
  readonly usable: boolean;
  /** When the calls that are under way must have been answered (`time.nowMs()` time); `Infinity` without any. */
  readonly deadlineAt: number;
  /** Called by the pool's sweep when `deadlineAt` has passed: fails the calls and destroys the connection. */
  expire(): void;
  /** Says good-bye and closes. Resolves when the resources are free. */
  close(): Promise<void>;
  /**
   * Closes without a word, because the state is in doubt.
   *
   * @returns when the server's side is gone, or cannot be there any more; undefined: it is gone already
   */
  destroy(): Promise<void> | undefined;
}

export interface ConnectionPoolOptions<C extends PooledConnection> {
  /** Most connections open at a time. */
  readonly maximumSize: number;
  /** A connection idle for this time is closed, in milliseconds. `Infinity`: never. */
  readonly idleTimeoutMs: number;
  /** A connection of this age is closed when it comes back, in milliseconds. `Infinity`: never. */
  readonly maximumLifetimeMs: number;
  /** Default of `CallOptions.timeoutMs`. */
  readonly defaultTimeoutMs: number;
  /** For messages: host, port and database. */
  readonly description: string;
  /** Opens a connection within its own time limit. */
  readonly open: () => Promise<C>;
  /** What this pool shares with others. Default: nothing. */
  readonly budget?: ConnectionBudget | undefined;
}

/** A caller that waits for a connection. */
export interface Waiter<C> {
  readonly since: number;
  /** When its wait for one of the open connections ends. */
  deadlineAt: number;
  /** When its wait for the first connection ends, which is being opened. */
  readonly openedBy: number;
  readonly grant: (connection: C) => void;
  readonly refuse: (failure: unknown) => void;
}

/** An idle connection, and since when it is idle. */
export interface Idle<C> {
  readonly connection: C;
  since: number;
}
