import { type Timer, time } from './time.js';

/**
 * A lease of this process on a row: of a consumer of events, or of a keyed lock. It is certainly valid until its duration
 * has passed since the statement that took or renewed it was sent, by this process's clock.
 */
export class HeldLease<Lease> {
  readonly lease: Lease;
  /** Duration of the lease and of each renewal, in milliseconds. */
  readonly durationMs: number;
  readonly #onLost: (() => void) | undefined;
  #validUntilMs: number;
  #timer: Timer | undefined;

  /**
   * @param askedMs `time.nowMs()` before the lease was requested
   * @param onLost called once, when the lease expires or is lost. Default: only `valid` shows it
   */
  constructor(lease: Lease, askedMs: number, durationMs: number, onLost?: () => void) {
    this.lease = lease;
    this.durationMs = durationMs;
    this.#onLost = onLost;
    this.#validUntilMs = askedMs + durationMs;
    this.#watch();
  }

  get valid(): boolean {
    return time.nowMs() < this.#validUntilMs;
  }

  /** Extends the lease. A late reply does not shorten a later renewal. @param askedMs `time.nowMs()` before it was sent */
  renewed(askedMs: number): void {
    this.set(Math.max(this.#validUntilMs, askedMs + this.durationMs));
  }

  /** Lets the lease end at this time of `time.nowMs()`. */
  set(validUntilMs: number): void {
    this.#validUntilMs = validUntilMs;
    this.#watch();
  }

  /** Marks the lease as lost. */
  lost(): void {
    this.released();
    this.#onLost?.();
  }

  /** Ends the lease without calling `onLost`. */
  released(): void {
    this.#validUntilMs = 0;
    time.clearTimeout(this.#timer);
  }

  #watch(): void {
    if (this.#onLost === undefined) return;
    time.clearTimeout(this.#timer);
    const leftMs = Math.max(0, this.#validUntilMs - time.nowMs());
    this.#timer = time.setTimeout(() => this.lost(), leftMs).unref();
  }
}
