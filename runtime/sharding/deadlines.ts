import { NO_SLOT, type Slotted, TransientSet } from '../collections/transient-set.js';
import { type Timer, time } from '../concurrency/time.js';
import { outside } from './outside.js';

/** How often overdue waits are looked for. */
const SWEEP_MS = 10;

/** A look at deadlines that comes later than this shows that the event loop was busy, in milliseconds. */
const STALL_MS = 50;

/**
 * Until when answers would have been heard, for a look at deadlines that was due at `due`: now, or `due` if the event
 * loop was busy since. What became overdue meanwhile is looked at once more: an answer of several messages, or one that
 * arrived behind a thousand others, may be there and not read yet.
 *
 * @param now on the same clock as `due`; by default it is the one in force
 */
export function heardUntil(due: number, now: number = time.nowMs()): number {
  return now - due > STALL_MS ? due : now;
}

/** Something that ends at a deadline. */
export interface Wait extends Slotted {
  /** On the clock of `time.nowMs()`. */
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
  #timer: Timer | undefined;
  /** When the next look is due. */
  #due = 0;

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
    if (this.#timer !== undefined) return;
    this.#due = time.nowMs() + SWEEP_MS;
    this.#timer = outside(() =>
      time.setInterval(() => time.setImmediate(() => this.#sweep()), SWEEP_MS).unref(),
    );
  }

  /** The wait is over. */
  forget(wait: Wait): void {
    this.#waits.delete(wait);
  }

  #sweep(): void {
    if (this.#waits.size === 0) {
      time.clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = heardUntil(this.#due);
    this.#due = time.nowMs() + SWEEP_MS;
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
