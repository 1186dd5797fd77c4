import { time } from '../../concurrency/time.js';

/**
 * Lets those who read one model at the same time go on one after the other, each in a moment of its own: until it waits
 * for something, nobody else gets in between. So a `perform` that computes and stages has done so when the next one
 * looks for the latest state. Without that, of n executions that read one state one could be sealed, and the others
 * would run again, n times over.
 */
export class Moments {
  #taken = new Set<string>();

  /** Undefined if nobody else has taken the moment of this model (`model/id`) in this turn of the event loop. */
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
