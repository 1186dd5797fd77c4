import type { LatencyLimit } from './latency-limit.js';

/** A request that asks to be admitted. One of the two is called, at once or later. */
export interface Entrant {
  admitted(ticket: Ticket): void;
  /** @param returnMs after how many milliseconds its client should come back */
  refused(returnMs: number): void;
  /** Whether its client has gone: then it is forgotten, and neither is called. */
  readonly isGone: boolean;
}

/** The place of a request under way. */
export interface Ticket {
  /**
   * Gives the place back; further calls do nothing.
   *
   * @param isSample whether the time that it took says how busy the shard is
   */
  leave(isSample: boolean): void;
}

interface Waiting {
  readonly entrant: Entrant;
  readonly sinceMs: number;
}

/** Requests that may wait, as a share of those that may be under way: so many end within a fraction of the tolerated latency. */
const WAITING_SHARE = 0.25;
const LEAST_WAITING = 4;

/** The requests of one shard: those under way, and those that wait. */
export class Gate {
  readonly limit: LatencyLimit;
  inFlight = 0;
  refused = 0;
  /** The oldest first. */
  #waiting: Waiting[] = [];

  constructor(limit: LatencyLimit) {
    this.limit = limit;
  }

  get hasRoom(): boolean {
    return this.inFlight < this.limit.limit;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether as many wait as may. */
  get isCrowded(): boolean {
    return this.#waiting.length >= Math.max(LEAST_WAITING, this.limit.limit * WAITING_SHARE);
  }

  get statistics(): {
    readonly inFlight: number;
    readonly limit: number;
    readonly waiting: number;
    readonly refused: number;
  } {
    const { inFlight, limit, refused } = this;
    return { inFlight, limit: limit.limit, waiting: this.#waiting.length, refused };
  }

  wait(entrant: Entrant, nowMs: number): void {
    this.#waiting.push({ entrant, sinceMs: nowMs });
  }

  /** Takes out the oldest request that has waited since `boundMs` or longer. */
  takeOverdue(boundMs: number): Entrant | undefined {
    for (;;) {
      const oldest = this.#waiting[0];
      if (oldest === undefined || oldest.sinceMs > boundMs) return undefined;
      this.#waiting.shift();
      if (!oldest.entrant.isGone) return oldest.entrant;
    }
  }

  /**
   * Takes out the next request: the oldest one, or the newest one while the oldest is overdue. Under overload the
   * newest can still be answered in good time, and the oldest no longer can.
   */
  next(overdueSinceMs: number): Entrant | undefined {
    for (;;) {
      const oldest = this.#waiting[0];
      if (oldest === undefined) return undefined;
      const taken = oldest.sinceMs <= overdueSinceMs ? this.#waiting.pop() : this.#waiting.shift();
      if (taken?.entrant.isGone === false) return taken.entrant;
    }
  }
}
