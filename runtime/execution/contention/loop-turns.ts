import { time } from '../../concurrency/time.js';

/**
 * Resumes executions that read one model at the same time one after the other, each in a turn of the event loop of its
 * own. Until it waits for something, no other one runs. So a `perform` that computes and stages has done so when the
 * next one looks for the latest state. Without these turns, of n executions that read one state one could be sealed,
 * and the others would run again, n times over.
 */
export class LoopTurns {
  #taken = new Set<string>();

  /** Undefined if no other execution has resumed with this model (`model/id`) in this turn of the event loop. */
  take(key: string): Promise<void> | undefined {
    if (!this.#taken.has(key)) {
      this.#mark(key);
      return undefined;
    }
    // Immediates run one after the other, each with everything that follows from it without waiting.
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
