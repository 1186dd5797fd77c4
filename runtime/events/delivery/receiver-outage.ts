import { time } from '../../concurrency/time.js';
import { messageOf } from '../../errors.js';

/** The events that wait because their receiver is down: one line when the first one waits, and one after the last. */
export class ReceiverOutage {
  readonly #name: string;
  readonly #warn: (message: string) => void;
  readonly #events = new Set<string>();
  #sinceMs = 0;
  #reason = '';

  constructor(name: string, warn: (message: string) => void) {
    this.#name = name;
    this.#warn = warn;
  }

  /** For operators. Undefined: no event waits. */
  get obstacle(): string | undefined {
    return this.#events.size === 0 ? undefined : `its receiver is down: ${this.#reason}`;
  }

  waits(eventId: string, error: unknown): void {
    if (this.#events.size === 0) {
      this.#sinceMs = time.nowMs();
      this.#reason = messageOf(error);
      this.#warn(`The receiver of ${this.#name} is down: ${this.#reason}`);
    }
    this.#events.add(eventId);
  }

  /** Must be called for each event that was handled or has failed in another way. */
  ended(eventId: string): void {
    if (!this.#events.delete(eventId) || this.#events.size > 0) return;
    const seconds = Math.ceil((time.nowMs() - this.#sinceMs) / 1_000);
    this.#warn(`The receiver of ${this.#name} answers again after ${seconds} s`);
  }
}
