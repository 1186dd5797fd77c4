import { NO_SLOT, type Slotted, TransientSet } from '../collections/transient-set.js';

/** How often overdue waits are looked for. */
const SWEEP_MS = 10;

/** Something that ends at a deadline. */
export interface Wait extends Slotted {
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /** Called once, unless `forget` comes first. */
  expire(): void;
}

/**
 * Many waits with a deadline behind one timer: a timer per wait would cost more than the wait itself. A wait ends at
 * most one sweep after its deadline. Timers run before input is read: after a long pause of the process the answers
 * may be there already, so deadlines are looked at once the event loop has read them.
 */
export class Deadlines {
  readonly #waits = new TransientSet<Wait>();
  #timer: NodeJS.Timeout | undefined;

  /** Settles as `work` does, or rejects with `onExpiry()` once the deadline has passed. */
  race<T>(work: Promise<T>, deadline: number, onExpiry: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const wait: Wait = { deadline, slot: NO_SLOT, expire: () => reject(onExpiry()) };
      this.watch(wait);
      work.then(
        (value) => {
          this.forget(wait);
          resolve(value);
        },
        (error: unknown) => {
          this.forget(wait);
          reject(error);
        },
      );
    });
  }

  /** Ends the wait at its deadline. */
  watch(wait: Wait): void {
    this.#waits.add(wait);
    this.#timer ??= setInterval(() => setImmediate(() => this.#sweep()), SWEEP_MS).unref();
  }

  /** The wait is over. */
  forget(wait: Wait): void {
    this.#waits.delete(wait);
  }

  #sweep(): void {
    if (this.#waits.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    for (const wait of this.#waits.filter(({ deadline }) => deadline <= now)) {
      // The end of one wait may be that of others.
      if (wait.slot === NO_SLOT) continue;
      this.#waits.delete(wait);
      wait.expire();
    }
  }
}

/** The process's waits. */
export const deadlines: Deadlines = new Deadlines();
