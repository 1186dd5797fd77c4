import { time } from './time.js';

/** Interval between checks of waits, in milliseconds. */
const STEP_MS = 20;
/** Maximum time that one step counts, however long the event loop was busy, in milliseconds. */
const LONGEST_STEP_MS = 25;

/** The clock and timer of a `LoopTime`. */
export interface LoopTimeEnvironment {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Calls `work` after `ms` milliseconds, once the event loop has read pending input. */
  readonly later: (work: () => void, ms: number) => void;
}

const SYSTEM: LoopTimeEnvironment = {
  nowMs: () => time.nowMs(),
  later: (work, ms) => void time.setTimeout(() => time.setImmediate(work), ms).unref(),
};

interface Wait {
  leftMs: number;
  readonly expire: () => void;
}

/**
 * Time-outs that count only time in which the event loop was free to read answers. A process that is busy for half a
 * second at a time finds the answers of a healthy database late; measured by the clock, each connection attempt of
 * several messages would time out, and the database would be reported as unreachable.
 */
export class LoopTime {
  readonly #environment: LoopTimeEnvironment;
  readonly #waits = new Set<Wait>();
  #lastMs = 0;
  #isStepping = false;

  constructor(environment: LoopTimeEnvironment = SYSTEM) {
    this.#environment = environment;
  }

  /**
   * Calls back once the event loop has been free for the given time, with a tolerance of 20 milliseconds.
   *
   * @returns a function that cancels the wait
   */
  after(ms: number, expire: () => void): () => void {
    const wait = { leftMs: ms, expire };
    this.#waits.add(wait);
    if (!this.#isStepping) {
      this.#lastMs = this.#environment.nowMs();
      this.#stepLater();
    }
    return () => void this.#waits.delete(wait);
  }

  #stepLater(): void {
    this.#isStepping = true;
    this.#environment.later(() => {
      this.#isStepping = false;
      this.#step();
    }, STEP_MS);
  }

  #step(): void {
    const nowMs = this.#environment.nowMs();
    const countedMs = Math.min(LONGEST_STEP_MS, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    for (const wait of [...this.#waits]) {
      wait.leftMs -= countedMs;
      if (wait.leftMs > 0 || !this.#waits.delete(wait)) continue;
      wait.expire();
    }
    if (this.#waits.size > 0 && !this.#isStepping) this.#stepLater();
  }
}

/** The `LoopTime` of this process. */
export const loopTime: LoopTime = new LoopTime();
