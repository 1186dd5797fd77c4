import { NO_SLOT, type Slotted, TransientSet } from '../collections/transient-set.js';
import { Sweep } from './sweep.js';

/** Interval between two checks of deadlines, in milliseconds. */
const SWEEP_MS = 10;

/** An operation that ends at a deadline. */
export interface Wait extends Slotted {
  /** In milliseconds on the clock of `time.nowMs()`. */
  readonly deadline: number;
  /** Called once at the deadline, unless `forget` is called before. */
  expire(): void;
}

/**
 * Ends many waits at their deadlines with one timer, because a timer per wait would cost more than the wait itself. A
 * wait ends at most one sweep after its deadline.
 */
export class Deadlines {
  readonly #waits = new TransientSet<Wait>();
  readonly #sweep = new Sweep(SWEEP_MS, (heardUntilMs) => this.#expire(heardUntilMs));

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

  /** Expires the wait at its deadline. */
  watch(wait: Wait): void {
    this.#waits.add(wait);
    this.#sweep.start();
  }

  /** Removes a wait that has ended. */
  forget(wait: Wait): void {
    this.#waits.delete(wait);
  }

  /** Expires overdue waits. @returns whether waits are left */
  #expire(now: number): boolean {
    for (const wait of this.#waits.filter(({ deadline }) => deadline <= now)) {
      // The expiry of one wait may have ended others.
      if (wait.slot === NO_SLOT) continue;
      this.#waits.delete(wait);
      wait.expire();
    }
    return this.#waits.size > 0;
  }
}

/** The waits of this process. */
export const deadlines: Deadlines = new Deadlines();
