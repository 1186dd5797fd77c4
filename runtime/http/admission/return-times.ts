const SECOND_MS = 1_000;
/**
 * Refused clients come back at this share of the rate at which requests are completed. Under constant overload each of
 * them is refused again or takes the place of another, whose refusal takes time from requests that are served.
 */
const SHARE = 0.05;
/** Rate at which refused clients may come back while next to nothing is completed, per second. */
const LEAST_PER_SECOND = 20;

/**
 * Computes `Retry-After` of refused clients: each gets a place in a queue that moves at a twentieth of the rate at which
 * requests are completed. A fixed `Retry-After` would bring thousands of clients back at once, and the refusals alone
 * would take the processor.
 */
export class ReturnTimes {
  readonly #longestMs: number;
  #next = 0;
  #completed = 0;
  #since = 0;
  #perSecond = 0;

  /** @param longestMs no client is asked to wait longer, in milliseconds */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** One request was completed. */
  completed(nowMs: number): void {
    this.#measure(nowMs);
    this.#completed += 1;
  }

  /** Milliseconds until the next refused client should ask again; a second at least. */
  waitMs(nowMs: number): number {
    this.#measure(nowMs);
    const perSecond = Math.max(LEAST_PER_SECOND, this.#perSecond * SHARE);
    this.#next = Math.max(nowMs + SECOND_MS, this.#next + SECOND_MS / perSecond);
    // The line is as long as it may be: everyone at its end comes back together.
    this.#next = Math.min(this.#next, nowMs + this.#longestMs);
    return this.#next - nowMs;
  }

  #measure(nowMs: number): void {
    const elapsedMs = nowMs - this.#since;
    if (elapsedMs < SECOND_MS) return;
    this.#perSecond = (this.#completed * SECOND_MS) / elapsedMs;
    this.#completed = 0;
    this.#since = nowMs;
  }
}
