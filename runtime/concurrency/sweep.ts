import { type Timer, time } from './time.js';

/** A sweep that is late by more than this shows that the event loop was busy, in milliseconds. */
const STALL_MS = 50;

/**
 * Repeats a check of deadlines while there are any. Timers run before input is read: after a long pause of the process,
 * answers may have arrived that are not read yet. So another check follows after the event loop has read them.
 */
export class Sweep {
  readonly #intervalMs: number;
  readonly #check: (heardUntilMs: number) => boolean;
  #timer: Timer | undefined;
  /** Time at which the next check is due. */
  #due = 0;

  /**
   * @param check expires overdue operations; returns false if no deadlines are left. `heardUntilMs`: answers that
   *   arrived before this time have been read
   */
  constructor(intervalMs: number, check: (heardUntilMs: number) => boolean) {
    this.#intervalMs = intervalMs;
    this.#check = check;
  }

  /** Must be called whenever a deadline is added. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#due = time.nowMs() + this.#intervalMs;
    this.#timer = time.setInterval(() => time.setImmediate(() => this.#run()), this.#intervalMs).unref();
  }

  stop(): void {
    time.clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #run(): void {
    if (this.#timer === undefined) return;
    const heardUntilMs = heardUntil(this.#due);
    this.#due = time.nowMs() + this.#intervalMs;
    if (!this.#check(heardUntilMs)) this.stop();
  }
}

/**
 * The time until which answers have certainly been read, for a check that was due at `due`: now, or `due` if the event
 * loop was busy since. Operations that became overdue meanwhile are left to the next check: a part of their answer may
 * have arrived and not be read yet.
 */
function heardUntil(due: number): number {
  const now = time.nowMs();
  return now - due > STALL_MS ? due : now;
}
