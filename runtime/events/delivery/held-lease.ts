import { time } from '../../concurrency/time.js';
import type { Lease } from './consumer-store.js';

/** A lease and how long it is sure to be ours, by this process's own clock. */
export class HeldLease {
  readonly lease: Lease;
  /** For how long it is taken and renewed, in milliseconds. */
  readonly durationMs: number;
  #validUntilMs: number;

  /** @param askedMs `time.nowMs()` before the lease was asked for */
  constructor(lease: Lease, askedMs: number, leaseMs: number) {
    this.lease = lease;
    this.durationMs = leaseMs;
    this.#validUntilMs = askedMs + leaseMs;
  }

  get valid(): boolean {
    return time.nowMs() < this.#validUntilMs;
  }

  /**
   * A renewal that was long under way takes nothing from a later one. @param askedMs `time.nowMs()` before it was sent
   */
  renewed(askedMs: number): void {
    this.#validUntilMs = Math.max(this.#validUntilMs, askedMs + this.durationMs);
  }

  /** It is known to be gone. */
  lost(): void {
    this.#validUntilMs = 0;
  }
}
