import type { Timer } from '../time.js';

/** A clock that the test advances. */
export class ManualTime {
  #nowMs = 0;
  #timers: { readonly at: number; readonly work: () => void; readonly timer: Timer }[] = [];

  readonly nowMs = (): number => this.#nowMs;

  readonly setTimeout = (work: () => void, milliseconds: number): Timer => {
    const timer: Timer = { unref: () => timer };
    this.#timers.push({ at: this.#nowMs + milliseconds, work, timer });
    return timer;
  };

  readonly clearTimeout = (timer: Timer | undefined): void => {
    this.#timers = this.#timers.filter((each) => each.timer !== timer);
  };

  get waiting(): number {
    return this.#timers.length;
  }

  pass(milliseconds: number): void {
    const end = this.#nowMs + milliseconds;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (next === undefined) break;
      this.clearTimeout(next.timer);
      this.#nowMs = next.at;
      next.work();
    }
    this.#nowMs = end;
  }
}
