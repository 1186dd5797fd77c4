import { time } from '../../concurrency/time.js';
import { Gate, type QueueTimes, type Ticket, type WaitingRequest } from './gate.js';
import { LatencyLimit, type LatencyLimitOptions } from './latency-limit.js';
import { ReturnTimes } from './return-times.js';

/** Time and timers of an admission. */
export interface AdmissionEnvironment {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Calls back once after `ms` milliseconds. */
  readonly later: (work: () => void, ms: number) => void;
}

const SYSTEM: AdmissionEnvironment = {
  nowMs: () => time.nowMs(),
  // Timers run before input is read. An immediate runs after it, so requests that have ended meanwhile free their
  // places first.
  later: (work, ms) => void time.setTimeout(() => time.setImmediate(work), ms).unref(),
};

/** Statistics of an admission. */
export interface AdmissionStatistics {
  /** Requests in progress, and their maximum. */
  readonly inFlight: number;
  readonly limit: number;
  /** Requests waiting for a place. */
  readonly waiting: number;
  /** Requests that were refused since the start, at their head or after a wait. */
  readonly refused: number;
  readonly gates: readonly GateStatistics[];
}

/** Statistics of one shard. */
export interface GateStatistics extends Omit<AdmissionStatistics, 'gates'> {
  /** The bits of the shard; `NO_SHARD` for requests whose path names none. */
  readonly shard: number;
}

/** Represents the shard of requests whose path names none. */
export const NO_SHARD = -1;

const LIMIT: LatencyLimitOptions = {
  initial: 256,
  minimum: 128,
  maximum: 1_000,
  toleratedMs: 90,
  longestMs: 600,
  windowMs: 100,
  leastSamples: 10,
};
/** A shard that does not answer keeps its minimum of places. The total leaves room for the other shards. */
const TOTAL_LIMIT: LatencyLimitOptions = { ...LIMIT, initial: 512, minimum: 512 };
const QUEUE: QueueTimes = { burstMs: 250, longestMs: 500, overloadedMs: 10 };
/** How often waiting requests are checked, in milliseconds. */
const SWEEP_MS = 5;
/** Lifetime of the best mean latency of all shards, in milliseconds. */
const BEST_FOR_MS = 10_000;
/**
 * Longest time between two checks that counts as waiting, in milliseconds. During a longer one the event loop was busy,
 * and requests did not wait for places.
 */
const LONGEST_STEP_MS = 25;
const LONGEST_RETURN_MS = 15_000;

/**
 * Admits requests before any work is done for them: limits requests in progress, per shard and in total, by measured
 * latency, queues a few more and refuses the rest.
 */
export class Admission {
  readonly #environment: AdmissionEnvironment;
  readonly #gates = new Map<number, Gate>();
  /** Gates with waiting requests, in the order of their turns. */
  readonly #crowded = new Set<Gate>();
  readonly #total = new LatencyLimit(TOTAL_LIMIT);
  readonly #returns = new ReturnTimes(LONGEST_RETURN_MS);
  /** Called when a place of a shard is free and no request waits for it. */
  whenFree: (shard: number) => void = () => {};
  #inFlight = 0;
  #sweeping = false;
  /** The time for which requests have waited: only time in which the event loop was free counts. */
  readonly #waits = { ms: 0, lookedAtMs: 0 };
  #best = { meanMs: Number.POSITIVE_INFINITY, atMs: Number.NEGATIVE_INFINITY };

  constructor(environment: AdmissionEnvironment = SYSTEM) {
    this.#environment = environment;
  }

  get statistics(): AdmissionStatistics {
    const gates = [...this.#gates.values()].map(({ statistics }) => statistics);
    const sum = (of: (gate: GateStatistics) => number): number =>
      gates.reduce((total, gate) => total + of(gate), 0);
    return {
      inFlight: this.#inFlight,
      limit: this.#total.limit,
      waiting: sum(({ waiting }) => waiting),
      refused: sum(({ refused }) => refused),
      gates,
    };
  }

  /** Whether a request for this shard would be refused now. Call it before the body is read. */
  isFull(shard: number): boolean {
    const gate = this.#gates.get(shard);
    return gate !== undefined && !this.#hasRoom(gate) && gate.isCrowded(this.#waitMs());
  }

  /** Whether requests wait for places. */
  get isCrowded(): boolean {
    return this.#crowded.size > 0;
  }

  /** Whether a request for this shard would be queued only briefly, because the shard is overloaded. */
  queuesBriefly(shard: number): boolean {
    const gate = this.#gates.get(shard);
    if (gate === undefined) return false;
    const waitMs = this.#waitMs();
    return gate.isOverloaded(waitMs) && !gate.isCrowded(waitMs);
  }

  /** Free places of a shard; 0 while requests wait for one. */
  freePlaces(shard: number): number {
    const gate = this.#gates.get(shard);
    const inAll = Math.max(0, this.#total.limit - this.#inFlight);
    if (gate === undefined) return inAll;
    return gate.hasWaiting ? 0 : Math.min(inAll, Math.max(0, gate.limit.limit - gate.inFlight));
  }

  /** Counts a request that was refused because of `isFull`. @returns milliseconds after which the client may retry */
  refuse(shard: number): number {
    this.#gate(shard).refused += 1;
    return this.#returns.waitMs(this.#environment.nowMs());
  }

  /** Admits a request at once, queues it, or refuses it. */
  enter(shard: number, request: WaitingRequest): void {
    // Its connection has ended already, so its place would never be released.
    if (request.isGone) return;
    const gate = this.#gate(shard);
    if (!gate.hasWaiting && this.#hasRoom(gate)) {
      this.#admit(gate, request);
      return;
    }
    const waitMs = this.#waitMs();
    if (gate.isCrowded(waitMs)) {
      const overdue = gate.takeOverdue(waitMs);
      this.#refuse(gate, overdue ?? request);
      if (overdue === undefined) return;
    }
    gate.wait(request, waitMs);
    this.#crowded.add(gate);
    this.#sweepLater();
  }

  #refuse(gate: Gate, request: WaitingRequest): void {
    gate.refused += 1;
    request.refused(this.#returns.waitMs(this.#environment.nowMs()));
  }

  /**
   * The time by which waiting requests age. A process that stalls for a second serves none of them, and learns only
   * afterwards which places have become free. By the wall clock, a stall would cause all of a burst to be refused.
   */
  #waitMs(): number {
    const nowMs = this.#environment.nowMs();
    this.#waits.ms += Math.min(LONGEST_STEP_MS, nowMs - this.#waits.lookedAtMs);
    this.#waits.lookedAtMs = nowMs;
    return this.#waits.ms;
  }

  #gate(shard: number): Gate {
    let gate = this.#gates.get(shard);
    if (gate === undefined) {
      gate = new Gate(shard, new LatencyLimit(LIMIT), QUEUE);
      this.#gates.set(shard, gate);
    }
    return gate;
  }

  #hasRoom(gate: Gate): boolean {
    return gate.hasRoom && this.#inFlight < this.#total.limit;
  }

  #admit(gate: Gate, request: WaitingRequest): void {
    const startMs = this.#environment.nowMs();
    gate.inFlight += 1;
    this.#inFlight += 1;
    let isOpen = true;
    const ticket: Ticket = {
      leave: (isSample) => {
        if (!isOpen) return;
        isOpen = false;
        this.#left(gate, startMs, isSample);
      },
    };
    request.admitted(ticket);
  }

  #left(gate: Gate, startMs: number, isSample: boolean): void {
    const nowMs = this.#environment.nowMs();
    if (isSample) this.#record(gate, nowMs - startMs, nowMs);
    this.#returns.completed(nowMs);
    gate.inFlight -= 1;
    this.#inFlight -= 1;
    this.#admitWaiting();
    if (!gate.hasWaiting && this.#hasRoom(gate)) this.whenFree(gate.shard);
  }

  /** A shard that is slower than the others is no evidence of load on this process. */
  #record(gate: Gate, latencyMs: number, nowMs: number): void {
    gate.limit.record(latencyMs, gate.inFlight, nowMs);
    const { meanMs } = gate.limit;
    if (meanMs === 0) return;
    if (meanMs <= this.#best.meanMs || nowMs - this.#best.atMs > BEST_FOR_MS)
      this.#best = { meanMs, atMs: nowMs };
    if (meanMs <= this.#best.meanMs * 2) this.#total.record(latencyMs, this.#inFlight, nowMs);
  }

  /** Shards take turns. */
  #admitWaiting(): void {
    for (const gate of this.#crowded) {
      if (this.#inFlight >= this.#total.limit) return;
      if (!gate.hasRoom) continue;
      const request = gate.next();
      this.#crowded.delete(gate);
      if (gate.hasWaiting) this.#crowded.add(gate);
      if (request !== undefined) this.#admit(gate, request);
    }
  }

  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#environment.later(() => {
      this.#sweeping = false;
      this.#sweep();
    }, SWEEP_MS);
  }

  #sweep(): void {
    const waitMs = this.#waitMs();
    // A raised limit admits requests although none has ended.
    this.#admitWaiting();
    for (const gate of this.#crowded) {
      let late = gate.takeOverdue(waitMs);
      while (late !== undefined) {
        this.#refuse(gate, late);
        late = gate.takeOverdue(waitMs);
      }
      if (!gate.hasWaiting) this.#crowded.delete(gate);
    }
    if (this.#crowded.size > 0) this.#sweepLater();
  }
}
