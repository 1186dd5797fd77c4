import type { RunnableConnection, RunOptions } from './runnable-connection.js';

/**
 * One statement in this number is timed; at first, each one whose number is a power of two. The server
 * sends two answers for it instead of one, the second of which some proxies hold back for a while.
 */
const TIMED_EVERY = 1_024;
/** A commit is slow if it takes this time, in milliseconds, and longer than its execution. */
const SLOW_COMMIT_MS = 1;
/** Number of slow commits in a row before commits count as slow: a single one may be an outlier. */
const SLOW_IN_A_ROW = 3;

/**
 * The statements of one caller that may follow one another. While the server executes them for most of the time, they
 * are sent behind one another on one connection. If it is commits that take the time, because of a slow disk or a
 * standby that has to agree, each has a connection to itself, so that one is executed while another commits.
 */
export class Pipeline<C extends RunnableConnection<C>> {
  /** Runs, or ran, the last statement. */
  connection: C | undefined;
  #sent = 0;
  #slowInARow = 0;

  readonly #onCommit = (executionMs: number, commitMs: number): void => {
    const isSlow = commitMs > Math.max(executionMs, SLOW_COMMIT_MS);
    this.#slowInARow = isSlow ? this.#slowInARow + 1 : 0;
  };

  /** Receives the timing of the next statement; undefined if that one is not timed. */
  timer(): RunOptions<C>['onCommit'] {
    this.#sent += 1;
    const isTimed = this.#sent < TIMED_EVERY ? isPowerOfTwo(this.#sent) : this.#sent % TIMED_EVERY === 0;
    return isTimed ? this.#onCommit : undefined;
  }

  /** The connection on which the next statement may follow; undefined if it is better sent elsewhere. */
  get last(): C | undefined {
    return this.#slowInARow >= SLOW_IN_A_ROW ? undefined : this.connection;
  }
}

function isPowerOfTwo(number: number): boolean {
  return (number & (number - 1)) === 0;
}
