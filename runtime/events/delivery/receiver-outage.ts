import { time } from '../../concurrency/time.js';
import { messageOf, RetryLater } from '../../errors.js';

/** Pauses from here on are shown with their end, in milliseconds. */
const LONG_PAUSE_MS = 10_000;

/** The events that wait because their receiver is down: one line when the first one waits, and one after the last. */
export class ReceiverOutage {
  readonly #name: string;
  readonly #warn: (message: string) => void;
  /** When each event may be attempted again, in milliseconds since 1970; 0: soon. */
  readonly #events = new Map<string, number>();
  #sinceMs = 0;
  #reason = '';

  constructor(name: string, warn: (message: string) => void) {
    this.#name = name;
    this.#warn = warn;
  }

  /** For operators. Undefined: no event waits. */
  get obstacle(): string | undefined {
    if (this.#events.size === 0) return undefined;
    const nextMs = Math.min(...this.#events.values());
    const pause = nextMs === 0 ? '' : `; next attempt at ${new Date(nextMs).toISOString()}`;
    return `its receiver is down: ${this.#reason}${pause}`;
  }

  waits(eventId: string, error: unknown): void {
    this.#reason = messageOf(error);
    if (this.#events.size === 0) {
      this.#sinceMs = time.nowMs();
      this.#warn(`The receiver of ${this.#name} is down: ${this.#reason}`);
    }
    const pauseMs = error instanceof RetryLater ? (error.afterMs ?? 0) : 0;
    this.#events.set(eventId, pauseMs >= LONG_PAUSE_MS ? time.dateMs() + pauseMs : 0);
  }

  /** Must be called for each event that was handled or has failed in another way. */
  ended(eventId: string): void {
    if (!this.#events.delete(eventId) || this.#events.size > 0) return;
    const seconds = Math.ceil((time.nowMs() - this.#sinceMs) / 1_000);
    this.#warn(`The receiver of ${this.#name} answers again after ${seconds} s`);
  }
}
