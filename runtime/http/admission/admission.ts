import { type Entrant, Gate, type QueueTimes, type Ticket } from './gate.js';
import { LatencyLimit, type LatencyLimitOptions } from './latency-limit.js';
import { ReturnTimes } from './return-times.js';

/** Time and timers of an admission. */
export interface AdmissionEnvironment {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Calls back once after so many milliseconds. */
  readonly later: (work: () => void, ms: number) => void;
}

const SYSTEM: AdmissionEnvironment = {
  nowMs: () => performance.now(),
  // Timers run before input is read: what has ended in the meantime makes room first.
  later: (work, ms) => void setTimeout(() => setImmediate(work), ms).unref(),
};

/** What an admission shows of itself. */
export interface AdmissionStatistics {
  /** Requests under way, and how many may be. */
  readonly inFlight: number;
  readonly limit: number;
  /** Requests that wait for one of those. */
  readonly waiting: number;
  /** Requests that were refused since the start, at their head or after a wait. */
  readonly refused: number;
  readonly gates: readonly GateStatistics[];
}

/** One shard's part of it. */
export interface GateStatistics extends Omit<AdmissionStatistics, 'gates'> {
  /** The bits of the shard; `NO_SHARD` for requests whose path names none. */
  readonly shard: number;
}

/** Stands for the shard of requests whose path names none. */
export const NO_SHARD = -1;

const LIMIT: LatencyLimitOptions = {
  initial: 256,
  minimum: 128,
  maximum: 1_000,
  toleratedMs: 120,
  longestMs: 600,
  windowMs: 100,
  leastSamples: 10,
};
/** One shard that does not answer keeps its minimum of places; the others find room beside it. */
const TOTAL_LIMIT: LatencyLimitOptions = { ...LIMIT, initial: 512, minimum: 512 };
const QUEUE: QueueTimes = { burstMs: 250, longestMs: 500, overloadedMs: 10 };
/** How often waiting requests are looked at, in milliseconds. */
const SWEEP_MS = 5;
/** The best mean latency of all shards counts for so long, in milliseconds. */
const BEST_FOR_MS = 10_000;
const LONGEST_RETURN_MS = 15_000;

/**
 * Admission before work: how many requests may be under way, per shard and in all, found by measured latency; a short
 * queue in front; and refusals for the rest.
 */
export class Admission {
  readonly #environment: AdmissionEnvironment;
  readonly #gates = new Map<number, Gate>();
  /** Gates with waiting requests, the one whose turn is next first. */
  readonly #crowded = new Set<Gate>();
  readonly #total = new LatencyLimit(TOTAL_LIMIT);
  readonly #returns = new ReturnTimes(LONGEST_RETURN_MS);
  #inFlight = 0;
  #sweeping = false;
  #best = { meanMs: Number.POSITIVE_INFINITY, atMs: Number.NEGATIVE_INFINITY };

  constructor(environment: AdmissionEnvironment = SYSTEM) {
    this.#environment = environment;
  }

  get statistics(): AdmissionStatistics {
    const gates = [...this.#gates].map(([shard, gate]) => ({ shard, ...gate.statistics }));
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

  /** Whether a request for this shard would be refused now: to be asked before its body is read. */
  isFull(shard: number): boolean {
    const gate = this.#gates.get(shard);
    return gate !== undefined && !this.#hasRoom(gate) && gate.isCrowded(this.#environment.nowMs());
  }

  /** Counts a request that was refused because `isFull`. @returns after how many milliseconds to come back */
  refuse(shard: number): number {
    this.#gate(shard).refused += 1;
    return this.#returns.waitMs(this.#environment.nowMs());
  }

  /** Admits a request at once, lets it wait for a moment, or refuses it. */
  enter(shard: number, entrant: Entrant): void {
    const gate = this.#gate(shard);
    if (!gate.hasWaiting && this.#hasRoom(gate)) {
      this.#admit(gate, entrant);
      return;
    }
    const nowMs = this.#environment.nowMs();
    if (gate.isCrowded(nowMs)) {
      const overdue = gate.takeOverdue(nowMs);
      this.#refuse(gate, overdue ?? entrant, nowMs);
      if (overdue === undefined) return;
    }
    gate.wait(entrant, nowMs);
    this.#crowded.add(gate);
    this.#sweepLater();
  }

  #refuse(gate: Gate, entrant: Entrant, nowMs: number): void {
    gate.refused += 1;
    entrant.refused(this.#returns.waitMs(nowMs));
  }

  #gate(shard: number): Gate {
    let gate = this.#gates.get(shard);
    if (gate === undefined) {
      gate = new Gate(new LatencyLimit(LIMIT), QUEUE);
      this.#gates.set(shard, gate);
    }
    return gate;
  }

  #hasRoom(gate: Gate): boolean {
    return gate.hasRoom && this.#inFlight < this.#total.limit;
  }

  #admit(gate: Gate, entrant: Entrant): void {
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
    entrant.admitted(ticket);
  }

  #left(gate: Gate, startMs: number, isSample: boolean): void {
    const nowMs = this.#environment.nowMs();
    if (isSample) this.#record(gate, nowMs - startMs, nowMs);
    this.#returns.completed(nowMs);
    gate.inFlight -= 1;
    this.#inFlight -= 1;
    this.#admitWaiting();
  }

  /** A shard that is slower than the others says nothing about this process. */
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
      const entrant = gate.next();
      this.#crowded.delete(gate);
      if (gate.hasWaiting) this.#crowded.add(gate);
      if (entrant !== undefined) this.#admit(gate, entrant);
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
    const nowMs = this.#environment.nowMs();
    // A limit that has risen lets requests in without any of them ending.
    this.#admitWaiting();
    for (const gate of this.#crowded) {
      let late = gate.takeOverdue(nowMs);
      while (late !== undefined) {
        this.#refuse(gate, late, nowMs);
        late = gate.takeOverdue(nowMs);
      }
      if (!gate.hasWaiting) this.#crowded.delete(gate);
    }
    if (this.#crowded.size > 0) this.#sweepLater();
  }
}
