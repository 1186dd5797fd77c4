import { backoffMs } from '../concurrency/backoff.js';
import { time } from '../concurrency/time.js';
import { DriverFailure } from './driver-failure.js';

export interface BreakerOptions {
  /** Consecutive connection failures that open the circuit. */
  readonly threshold: number;
  /** First open time, in milliseconds. It doubles with each failed probe. */
  readonly shortestMs: number;
  /** Maximum open time, in milliseconds. A recovery is noticed within this time. */
  readonly longestMs: number;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

/**
 * With these values, a call succeeds within a second of the database's recovery, even after a failed connection
 * attempt.
 */
export const BREAKER_DEFAULTS: BreakerOptions = Object.freeze({
  threshold: 3,
  shortestMs: 100,
  longestMs: 400,
  nowMs: () => time.nowMs(),
  random: Math.random,
});

/**
 * Lets callers of an unreachable database fail at once, instead of waiting for a connection attempt each. Closed: every
 * call goes through. Open: every call fails at once. Half open, after the open time: one call goes through as a probe,
 * and its outcome closes or reopens the breaker. If it takes long, which may be due to the call itself, another one
 * goes through after the maximum open time.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #openings = 0;
  #openUntil = 0;
  /** Until when the probe is waited for; 0 without one. */
  #probeUntil = 0;
  #lastFailure: DriverFailure | undefined;

  constructor(options: BreakerOptions = BREAKER_DEFAULTS) {
    this.#options = options;
  }

  get state(): 'closed' | 'open' | 'half-open' {
    if (this.#openings === 0) return 'closed';
    return this.#options.nowMs() < this.#openUntil ? 'open' : 'half-open';
  }

  /** Runs a call. @throws DriverFailure, not sent, while the circuit is open; and what the call throws */
  async run<T>(call: () => Promise<T>): Promise<T> {
    this.#enter();
    let result: T;
    try {
      result = await call();
    } catch (error) {
      this.#leave(error);
      throw error;
    }
    this.#close();
    return result;
  }

  #enter(): void {
    if (this.#openings === 0) return;
    const now = this.#options.nowMs();
    const waitMs = this.#openUntil - now;
    if (waitMs > 0 || now < this.#probeUntil) throw this.#refusal(Math.max(waitMs, this.#options.shortestMs));
    this.#probeUntil = now + this.#options.longestMs;
  }

  /**
   * Any answer of the server closes the circuit. The loss of a call in flight says nothing: its connection may have been
   * opened long before. Neither does a caller that gave up while it waited.
   */
  #leave(error: unknown): void {
    this.#probeUntil = 0;
    if (!(error instanceof DriverFailure) || error.phase === 'answered') this.#close();
    else if (error.reason === 'unreachable') this.#failed(error);
  }

  #close(): void {
    this.#probeUntil = 0;
    this.#failures = 0;
    this.#openings = 0;
    this.#lastFailure = undefined;
  }

  #failed(failure: DriverFailure): void {
    this.#failures += 1;
    this.#lastFailure = failure;
    const { threshold, shortestMs, longestMs, nowMs, random } = this.#options;
    // Calls that were in flight when the circuit opened do not open it again.
    if (this.#failures < threshold || nowMs() < this.#openUntil) return;
    this.#openings += 1;
    const backoff = { firstMs: shortestMs, longestMs, least: 'half' } as const;
    this.#openUntil = nowMs() + backoffMs(this.#openings, backoff, random());
  }

  /** Repeats the last failure, so that a saturated server is not reported as unreachable. */
  #refusal(retryAfterMs: number): DriverFailure {
    const last = this.#lastFailure;
    return new DriverFailure(`not tried: ${last?.message ?? 'the database is out of reach'}`, {
      phase: 'not-sent',
      reason: 'unreachable',
      sqlState: last?.sqlState,
      retryAfterMs,
      cause: last,
    });
  }
}
