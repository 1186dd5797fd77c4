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

/** Times of a queue, in milliseconds. */
export interface QueueTimes {
  /** A queue that has held requests for longer than this does not pass by itself: the gate is overloaded. */
  readonly burstMs: number;
  /** A queued request is refused after this time. */
  readonly longestMs: number;
  /** The same for a request that has come while the gate was overloaded. */
  readonly overloadedMs: number;
}

/** Requests that may wait, as a share of those that may be under way. */
const BURST_SHARE = 1;
/** The same under overload, when a request waits for a moment only: more would be read and refused all the same. */
const OVERLOADED_SHARE = 1 / 8;

/**
 * The requests of one shard: those under way, and those that wait.
 *
 * The queue is a controlled delay (Maurer, Fail at Scale, ACM Queue 13/8, 2015): a burst may wait until it is served,
 * the oldest first. A queue that does not empty is overload: what comes then waits for a moment only, behind the rest
 * of the burst, and the newest is served first, because it can still be answered in good time. The burst keeps its
 * places: refused at that point, its requests would have waited for nothing.
 */
export class Gate {
  /** The shard's bits. */
  readonly shard: number;
  readonly limit: LatencyLimit;
  readonly #times: QueueTimes;
  /** Since when the queue has not been empty. */
  #fullSinceMs = 0;
  inFlight = 0;
  refused = 0;
  /** Requests of a burst, the oldest first. */
  #burst: Waiting[] = [];
  /** Requests that have come under overload, the oldest first. */
  #late: Waiting[] = [];

  constructor(shard: number, limit: LatencyLimit, times: QueueTimes) {
    this.shard = shard;
    this.limit = limit;
    this.#times = times;
  }

  get hasRoom(): boolean {
    return this.inFlight < this.limit.limit;
  }

  get hasWaiting(): boolean {
    return this.#waitingCount > 0;
  }

  /** Whether the queue has not been empty for longer than a burst takes. */
  isOverloaded(nowMs: number): boolean {
    return this.hasWaiting && nowMs - this.#fullSinceMs > this.#times.burstMs;
  }

  /** Whether as many wait as may. */
  isCrowded(nowMs: number): boolean {
    const share = this.isOverloaded(nowMs) ? OVERLOADED_SHARE : BURST_SHARE;
    return this.#waitingCount >= this.limit.limit * share;
  }

  get statistics(): {
    readonly shard: number;
    readonly inFlight: number;
    readonly limit: number;
    readonly waiting: number;
    readonly refused: number;
  } {
    const { shard, inFlight, limit, refused } = this;
    return { shard, inFlight, limit: limit.limit, waiting: this.#waitingCount, refused };
  }

  wait(entrant: Entrant, nowMs: number): void {
    if (!this.hasWaiting) this.#fullSinceMs = nowMs;
    (this.isOverloaded(nowMs) ? this.#late : this.#burst).push({ entrant, sinceMs: nowMs });
  }

  /** Takes out the oldest request that has waited for too long. */
  takeOverdue(nowMs: number): Entrant | undefined {
    const { longestMs, overloadedMs } = this.#times;
    return takeBefore(this.#burst, nowMs - longestMs) ?? takeBefore(this.#late, nowMs - overloadedMs);
  }

  /** Takes out the next request: the oldest one of a burst, then the newest one. */
  next(): Entrant | undefined {
    for (;;) {
      const taken = this.#burst.shift() ?? this.#late.pop();
      if (taken === undefined) return undefined;
      if (!taken.entrant.isGone) return taken.entrant;
    }
  }

  get #waitingCount(): number {
    return this.#burst.length + this.#late.length;
  }
}

/** Takes out the first request if it has waited since then. */
function takeBefore(waiting: Waiting[], boundMs: number): Entrant | undefined {
  for (;;) {
    const oldest = waiting[0];
    if (oldest === undefined || oldest.sinceMs > boundMs) return undefined;
    waiting.shift();
    if (!oldest.entrant.isGone) return oldest.entrant;
  }
}
