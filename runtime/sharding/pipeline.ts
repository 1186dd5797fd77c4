import type { RunnableConnection, RunOptions } from './pooled-connection.js';

/**
 * One statement in this number is timed; at first, each statement whose number is a power of two. For a timed statement
 * the server sends two answers instead of one, and some proxies delay the second.
 */
const TIMED_EVERY = 1_024;
/** A commit is slow if it takes at least this time, in milliseconds, and longer than its execution. */
const SLOW_COMMIT_MS = 1;
/** Consecutive slow commits before commits count as slow: a single one may be an outlier. */
const SLOW_IN_A_ROW = 3;

/**
 * Decides whether a caller's statements are pipelined on one connection. While execution takes most of the time, they
 * are. If commits take most of the time, because of a slow disk or a synchronous standby, each statement has its own
 * connection, so that one executes while another commits.
 */
export class Pipeline<C extends RunnableConnection<C>> {
  /** The connection of the last statement. */
  connection: C | undefined;
  #sent = 0;
  #slowInARow = 0;

  readonly #onCommit = (executionMs: number, commitMs: number): void => {
    const isSlow = commitMs > Math.max(executionMs, SLOW_COMMIT_MS);
    this.#slowInARow = isSlow ? this.#slowInARow + 1 : 0;
  };

  /** The callback for the timing of the next statement; undefined if it is not timed. */
  timer(): RunOptions<C>['onCommit'] {
    this.#sent += 1;
    const isTimed = this.#sent < TIMED_EVERY ? isPowerOfTwo(this.#sent) : this.#sent % TIMED_EVERY === 0;
    return isTimed ? this.#onCommit : undefined;
  }

  /** The connection on which the next statement may follow; undefined if it should use another one. */
  get last(): C | undefined {
    return this.#slowInARow >= SLOW_IN_A_ROW ? undefined : this.connection;
  }
}

function isPowerOfTwo(number: number): boolean {
  return (number & (number - 1)) === 0;
}
