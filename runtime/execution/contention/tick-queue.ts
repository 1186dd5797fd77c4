import { time } from '../../concurrency/time.js';

/**
 * Executions that read one model at the same time resume one after the other, each in its own turn of the event loop.
 * Other executions run only when an execution waits for I/O. So a `perform` without I/O between its read and its end
 * has finished when the next one looks up the latest state. Without these turns, only one of n executions that read the
 * same state could be sealed, and the others would run again, up to n times.
 */
export class TickQueue {
  #taken = new Set<string>();

  /** Undefined if no other execution has resumed with this model (`model/id`) in this turn of the event loop. */
  take(key: string): Promise<void> | undefined {
    if (!this.#taken.has(key)) {
      this.#mark(key);
      return undefined;
    }
    // Each immediate runs to its next I/O, including its promise callbacks, before the next immediate.
    return new Promise((resolve) => {
      time.setImmediate(() => {
        this.#mark(key);
        resolve();
      });
    });
  }

  #mark(key: string): void {
    this.#taken.add(key);
    if (this.#taken.size > 1) return;
    time.setImmediate(() => {
      this.#taken = new Set();
    });
  }
}
