import { time } from '../../concurrency/time.js';

/**
 * Maximum time for requests and responses in one turn of the event loop, in milliseconds. The rest waits for the next
 * turn.
 */
const TURN_MS = 4;
/**
 * Minimum pieces of work per turn, regardless of time: on a busy machine, other processes may have the CPU for most of
 * the time.
 */
const LEAST = 32;

/** Requests that are read per piece of other work, while both wait. */
const READ_SHARE = 4;
/** Completed entries that the queue may keep before compaction. */
const COMPACT_AT = 1_024;

/** The functions of the event loop and the clock. */
export interface TurnEnvironment {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn: (work: () => void) => void;
  /** Calls back after the current work and its microtasks. */
  readonly afterwards: (work: () => void) => void;
}

const SYSTEM: TurnEnvironment = {
  nowMs: () => time.nowMs(),
  nextTurn: (work) => void time.setImmediate(work),
  afterwards: (work) => process.nextTick(work),
};

/** Work that waits for a turn, the oldest first. */
class Lane {
  #waiting: (() => void)[] = [];
  /** Index of the first open entry. */
  #next = 0;

  get isEmpty(): boolean {
    return this.#next === this.#waiting.length;
  }

  push(work: () => void): void {
    this.#waiting.push(work);
  }

  shift(): (() => void) | undefined {
    const work = this.#waiting[this.#next];
    if (work === undefined) return undefined;
    this.#next += 1;
    if (this.#next === COMPACT_AT || this.isEmpty) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    return work;
  }
}

/**
 * Limits the work of one turn of the event loop. A statement can complete a hundred actions at once, and their clients
 * send the next requests at once. Without a limit, one turn would process all of them, and nothing would be accepted,
 * refused or timed meanwhile. Work that does not fit into a turn waits for the next one, in order. Reading goes first,
 * because its cost is limited: a request is refused or joins the queue of the admission. Admitted requests and
 * responses get at least every fifth place.
 */
export class Turns {
  readonly #environment: TurnEnvironment;
  readonly #reading = new Lane();
  readonly #work = new Lane();
  /** Time at which the work of this turn must end; `undefined` before it begins. */
  #endMs: number | undefined;
  #done = 0;

  constructor(environment: TurnEnvironment = SYSTEM) {
    this.#environment = environment;
  }

  /** Reads a request, at once if the turn has time left, otherwise in a later turn. */
  read(work: () => void): void {
    this.#run(this.#reading, work);
  }

  /** Starts the work of an admitted request, or writes a response, in the same way. */
  work(work: () => void): void {
    this.#run(this.#work, work);
  }

  #run(lane: Lane, work: () => void): void {
    if (this.#endMs === undefined) this.#begin();
    if (!lane.isEmpty || this.#isOver()) {
      lane.push(work);
      return;
    }
    this.#done += 1;
    work();
  }

  #begin(): void {
    const { nowMs, nextTurn } = this.#environment;
    this.#endMs = nowMs() + TURN_MS;
    this.#done = 0;
    nextTurn(() => this.#turn());
  }

  #isOver(): boolean {
    if (this.#endMs === undefined) return true;
    return this.#done >= LEAST && this.#environment.nowMs() >= this.#endMs;
  }

  #turn(): void {
    this.#endMs = undefined;
    if (this.#reading.isEmpty && this.#work.isEmpty) return;
    this.#begin();
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isOver()) return;
    const work = this.#shift();
    if (work === undefined) return;
    this.#done += 1;
    try {
      work();
    } finally {
      this.#environment.afterwards(() => this.#goOn());
    }
  }

  #shift(): (() => void) | undefined {
    const isWorking = this.#done % (READ_SHARE + 1) === READ_SHARE;
    return isWorking
      ? (this.#work.shift() ?? this.#reading.shift())
      : (this.#reading.shift() ?? this.#work.shift());
  }
}
