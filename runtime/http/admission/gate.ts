import type { LatencyLimit } from './latency-limit.js';

/** A request that waits for admission. Either `admitted` or `refused` is called, at once or later. */
export interface WaitingRequest {
  admitted(ticket: Ticket): void;
  /** @param returnMs milliseconds after which its client may retry */
  refused(returnMs: number): void;
  /** Whether its client has disconnected. The request is then dropped without a call. */
  readonly isGone: boolean;
}

/** The place of a request in progress. */
export interface Ticket {
  /**
   * Releases the place. Calls after the first have no effect.
   *
   * @param isSample whether the duration of the request is a measure of the load on the shard
   */
  leave(isSample: boolean): void;
}

interface Waiting {
  readonly request: WaitingRequest;
  readonly sinceMs: number;
}

/** Times of a queue, in milliseconds. */
export interface QueueTimes {
  /** If the queue has not been empty for longer than this, the gate is overloaded. */
  readonly burstMs: number;
  /** A queued request is refused after this time. */
  readonly longestMs: number;
  /** The same for a request that arrived while the gate was overloaded. */
  readonly overloadedMs: number;
}

/** Maximum waiting requests, as a share of the maximum in progress. */
const BURST_SHARE = 1;
/** The same under overload, when requests wait only briefly: further ones would be read and then refused. */
const OVERLOADED_SHARE = 1 / 8;

/**
 * The requests of one shard, in progress and waiting. The queue is a controlled delay (Maurer, Fail at Scale, ACM Queue
 * 13/8, 2015). A burst may wait until it is served, the oldest request first. A queue that does not empty means
 * overload: further requests wait only briefly, after the rest of the burst, and the newest one is served first,
 * because it can still be answered in time. Requests of the burst keep their places, because a refusal would waste
 * their wait.
 */
export class Gate {
  /** The shard's bits. */
  readonly shard: number;
  readonly limit: LatencyLimit;
  readonly #times: QueueTimes;
  /** Time since which the queue has not been empty. */
  #fullSinceMs = 0;
  inFlight = 0;
  refused = 0;
  /** Requests of a burst, the oldest first. */
  #burst: Waiting[] = [];
  /** Requests that arrived under overload, the oldest first. */
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

  /** Whether the queue has not been empty for longer than `burstMs`. */
  isOverloaded(nowMs: number): boolean {
    return this.hasWaiting && nowMs - this.#fullSinceMs > this.#times.burstMs;
  }

  /** Whether the maximum number of requests is waiting. */
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

  wait(request: WaitingRequest, nowMs: number): void {
    if (!this.hasWaiting) this.#fullSinceMs = nowMs;
    (this.isOverloaded(nowMs) ? this.#late : this.#burst).push({ request, sinceMs: nowMs });
  }

  /** Removes and returns the oldest request that has waited for too long. */
  takeOverdue(nowMs: number): WaitingRequest | undefined {
    const { longestMs, overloadedMs } = this.#times;
    return takeBefore(this.#burst, nowMs - longestMs) ?? takeBefore(this.#late, nowMs - overloadedMs);
  }

  /** Removes and returns the next request: the oldest one of a burst, then the newest one. */
  next(): WaitingRequest | undefined {
    for (;;) {
      const taken = this.#burst.shift() ?? this.#late.pop();
      if (taken === undefined) return undefined;
      if (!taken.request.isGone) return taken.request;
    }
  }

  get #waitingCount(): number {
    return this.#burst.length + this.#late.length;
  }
}

/** Removes and returns the first request if it has waited since that time. */
function takeBefore(waiting: Waiting[], boundMs: number): WaitingRequest | undefined {
  for (;;) {
    const oldest = waiting[0];
    if (oldest === undefined || oldest.sinceMs > boundMs) return undefined;
    waiting.shift();
    if (!oldest.request.isGone) return oldest.request;
  }
}
