import { backoffMs } from '../concurrency/backoff.js';
import { time } from '../concurrency/time.js';
import { DriverFailure } from './driver-failure.js';

/** Consecutive connection failures that open the circuit. */
export const THRESHOLD = 3;
/**
 * First and maximum open time, in milliseconds. It doubles with each failed probe. A call succeeds within a second of the
 * database's recovery, even after a failed connection attempt.
 */
const SHORTEST_MS = 100;
export const LONGEST_MS = 400;

/**
 * Lets callers of an unreachable database fail at once, instead of waiting for a connection attempt each. Closed: every
 * call goes through. Open: every call fails at once. Half open, after the open time: one call goes through as a probe,
 * and its outcome closes or reopens the breaker. If it takes long, which may be due to the call itself, another one
 * goes through after the maximum open time.
 */
export class CircuitBreaker {
  #failures = 0;
  #openings = 0;
  #openUntil = 0;
  /** Until when the probe is waited for; 0 without one. */
  #probeUntil = 0;
  #lastFailure: DriverFailure | undefined;

  get state(): 'closed' | 'open' | 'half-open' {
    if (this.#openings === 0) return 'closed';
    return time.nowMs() < this.#openUntil ? 'open' : 'half-open';
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
    const now = time.nowMs();
    const waitMs = this.#openUntil - now;
    if (waitMs > 0 || now < this.#probeUntil) throw this.#refusal(Math.max(waitMs, SHORTEST_MS));
    this.#probeUntil = now + LONGEST_MS;
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
    // Calls that were in flight when the circuit opened do not open it again.
    if (this.#failures < THRESHOLD || time.nowMs() < this.#openUntil) return;
    this.#openings += 1;
    const backoff = { firstMs: SHORTEST_MS, longestMs: LONGEST_MS, least: 'half' } as const;
    this.#openUntil = time.nowMs() + backoffMs(this.#openings, backoff, Math.random());
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
