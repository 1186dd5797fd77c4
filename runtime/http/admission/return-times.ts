const SECOND_MS = 1_000;
/**
 * Refused clients return at this share of the rate at which requests complete. Under constant overload each of them is
 * refused again or takes the place of another client, and every refusal takes time from requests that are served.
 */
const SHARE = 0.05;
/** Minimum rate at which refused clients may return, per second. */
const LEAST_PER_SECOND = 20;

/**
 * Computes the `Retry-After` of refused clients. Each gets a place in a queue that moves at a twentieth of the rate at
 * which requests complete. With a fixed `Retry-After`, thousands of clients would return at once, and their refusals
 * would use up the processor.
 */
export class ReturnTimes {
  readonly #longestMs: number;
  #next = 0;
  #completed = 0;
  #since = 0;
  #perSecond = 0;

  /** @param longestMs maximum `Retry-After`, in milliseconds */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** One request was completed. */
  completed(nowMs: number): void {
    this.#measure(nowMs);
    this.#completed += 1;
  }

  /** Milliseconds until the next refused client may retry; at least 1,000. */
  waitMs(nowMs: number): number {
    this.#measure(nowMs);
    const perSecond = Math.max(LEAST_PER_SECOND, this.#perSecond * SHARE);
    this.#next = Math.max(nowMs + SECOND_MS, this.#next + SECOND_MS / perSecond);
    // The queue has its maximum length: all clients at its end return together.
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
