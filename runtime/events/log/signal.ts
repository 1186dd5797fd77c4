import { type Timer, time } from '../../concurrency/time.js';

/** Lets one loop sleep until it is notified. A notification without a waiter is remembered. */
export class Signal {
  #pending = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#pending = true;
    this.#wake?.();
  }

  /** Resolves at the next `notify`, at once if there was one since the last wait, or after `milliseconds`. */
  async wait(milliseconds: number): Promise<void> {
    if (!this.#pending) {
      let timer: Timer | undefined;
      await new Promise<void>((resolve) => {
        timer = time.setTimeout(resolve, milliseconds);
        this.#wake = resolve;
      });
      time.clearTimeout(timer);
      this.#wake = undefined;
    }
    this.#pending = false;
  }
}
