import type { Lease } from './consumer-store.js';

/** A lease and how long it is sure to be ours, by this process's own clock. */
export class HeldLease {
  readonly lease: Lease;
  /** For how long it is taken and renewed, in milliseconds. */
  readonly durationMs: number;
  #validUntilMs: number;

  /** @param askedMs `performance.now()` before the lease was asked for */
  constructor(lease: Lease, askedMs: number, leaseMs: number) {
    this.lease = lease;
    this.durationMs = leaseMs;
    this.#validUntilMs = askedMs + leaseMs;
  }

  get valid(): boolean {
    return performance.now() < this.#validUntilMs;
  }

  /** @param askedMs `performance.now()` before the renewal was sent */
  renewed(askedMs: number, leaseMs: number): void {
    this.#validUntilMs = askedMs + leaseMs;
  }

  /** It is known to be gone. */
  lost(): void {
    this.#validUntilMs = 0;
  }
}
