import type { VirtualClock } from './virtual-clock.js';

interface Task {
  readonly atMs: number;
  readonly run: () => Promise<void>;
}

/** Tasks by their time on a virtual clock. The time advances when no task is left at the current time. */
export class Agenda {
  readonly #clock: VirtualClock;
  #tasks: Task[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get nowMs(): number {
    return this.#clock.now().getTime();
  }

  /** Adds a task. A time in the past means now. Tasks of the same time run in the order in which they were entered. */
  enter(atMs: number, run: () => Promise<void>): void {
    this.#tasks.push({ atMs, run });
  }

  /** Advances to the next task's time and runs it. False if there is none. */
  async next(): Promise<boolean> {
    const [first] = this.#tasks.toSorted((a, b) => a.atMs - b.atMs);
    if (first === undefined) return false;
    this.#tasks = this.#tasks.filter((task) => task !== first);
    if (first.atMs > this.nowMs) this.#clock.set(new Date(first.atMs));
    await first.run();
    return true;
  }
}
