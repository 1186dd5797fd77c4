import { time } from '../../concurrency/time.js';
import type { Lease } from './consumer-store.js';

/** A lease, and the time until which it is certainly valid by this process's clock. */
export class HeldLease {
  readonly lease: Lease;
  /** Duration of each lease and renewal, in milliseconds. */
  readonly durationMs: number;
  #validUntilMs: number;

  /** @param askedMs `time.nowMs()` before the lease was requested */
  constructor(lease: Lease, askedMs: number, leaseMs: number) {
    this.lease = lease;
    this.durationMs = leaseMs;
    this.#validUntilMs = askedMs + leaseMs;
  }

  get valid(): boolean {
    return time.nowMs() < this.#validUntilMs;
  }

  /**
   * Extends the lease. A late reply does not shorten a later renewal.
   * @param askedMs `time.nowMs()` before it was sent
   */
  renewed(askedMs: number): void {
    this.#validUntilMs = Math.max(this.#validUntilMs, askedMs + this.durationMs);
  }

  /** Marks the lease as lost. */
  lost(): void {
    this.#validUntilMs = 0;
  }
}
