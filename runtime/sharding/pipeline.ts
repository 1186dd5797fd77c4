import type { RunnableConnection, RunOptions } from './runnable-connection.js';

/**
 * One statement in so many is timed in the long run; at first it is every one whose number is a power of two. The server
 * sends two answers for it instead of one, the second of which some proxies hold back for a while.
 */
const TIMED_EVERY = 1_024;
/** How much of what is known a new measurement replaces. */
const WEIGHT = 1 / 2;
/** Commits that take so many milliseconds, and longer than the executions, are slow. */
const SLOW_COMMIT_MS = 1;
/** A commit that took longer once, for whatever reason, counts as one of so many milliseconds. */
const SLOWEST_COMMIT_MS = 10;

/**
 * The statements of one caller that may follow one another. While the server executes them for most of the time, they
 * are sent behind one another on one connection. If it is commits that take the time, because of a slow disk or a
 * standby that has to agree, each has a connection to itself, so that one is executed while another commits.
 */
export class Pipeline<C extends RunnableConnection<C>> {
  /** Runs, or ran, the last statement. */
  connection: C | undefined;
  #sent = 0;
  #executionMs = 0;
  #commitMs = 0;

  readonly #onCommit = (executionMs: number, commitMs: number): void => {
    this.#executionMs += (executionMs - this.#executionMs) * WEIGHT;
    this.#commitMs += (Math.min(commitMs, SLOWEST_COMMIT_MS) - this.#commitMs) * WEIGHT;
  };

  /** Told how the time of the next statement was spent; undefined if that is not asked. */
  timer(): RunOptions<C>['onCommit'] {
    this.#sent += 1;
    const isTimed = this.#sent < TIMED_EVERY ? isPowerOfTwo(this.#sent) : this.#sent % TIMED_EVERY === 0;
    return isTimed ? this.#onCommit : undefined;
  }

  /** The connection on which the next statement may follow; undefined if it is better sent elsewhere. */
  get last(): C | undefined {
    return this.#commitsSlowly ? undefined : this.connection;
  }

  get #commitsSlowly(): boolean {
    return this.#commitMs > Math.max(this.#executionMs, SLOW_COMMIT_MS);
  }
}

function isPowerOfTwo(number: number): boolean {
  return (number & (number - 1)) === 0;
}
