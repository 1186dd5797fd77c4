import type { VirtualClock } from './virtual-clock.js';

interface Task {
  readonly atMs: number;
  /** Of equal times the first one entered is run first. */
  readonly order: number;
  readonly run: () => Promise<void>;
}

/** What is to be done at which time of a virtual clock: time passes when nothing is left to be done now. */
export class Agenda {
  readonly #clock: VirtualClock;
  #tasks: Task[] = [];
  #entered = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get nowMs(): number {
    return this.#clock.now().getTime();
  }

  /** Enters a task. A time that has passed is now. */
  enter(atMs: number, run: () => Promise<void>): void {
    this.#entered += 1;
    this.#tasks.push({ atMs, order: this.#entered, run });
  }

  /** Runs the next task, at its time. False: there is none. */
  async next(): Promise<boolean> {
    const [first] = this.#tasks.toSorted((a, b) => a.atMs - b.atMs || a.order - b.order);
    if (first === undefined) return false;
    this.#tasks = this.#tasks.filter((task) => task !== first);
    if (first.atMs > this.nowMs) this.#clock.set(new Date(first.atMs));
    await first.run();
    return true;
  }
}
