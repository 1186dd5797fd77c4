import { atMost } from '../../concurrency/at-most.js';

/** Longest wait for a turn, in milliseconds: turns only save work, so nobody depends on them. */
const LONGEST_WAIT_MS = 250;

/**
 * Lets executions that fight over one model run their `perform` one after the other. Without turns, of n executions
 * that read the same state only one could be sealed and the others would run again, n times over. Taken for models
 * that are contended right now, in one order, before `perform` reads anything.
 */
export class Turns {
  readonly #queues = new Map<string, Promise<void>>();

  /** Models that somebody has or waits for a turn at. */
  get size(): number {
    return this.#queues.size;
  }

  /** Whether somebody has or waits for a turn at this model. */
  isContended(key: string): boolean {
    return this.#queues.has(key);
  }

  /**
   * Waits for a turn at every key. The returned function ends them.
   *
   * @param wait waits for others, as long as the caller may @throws what it throws; then all turns are given up
   */
  async take(
    keys: readonly string[],
    wait: (others: Promise<void>) => Promise<void> = (others) => others,
  ): Promise<() => void> {
    const releases: (() => void)[] = [];
    const end = (): void => {
      for (const release of releases) release();
    };
    try {
      for (const key of [...keys].sort()) releases.push(await this.#take(key, wait));
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  async #take(key: string, wait: (others: Promise<void>) => Promise<void>): Promise<() => void> {
    const before = this.#queues.get(key);
    let release = (): void => {};
    const turn = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#queues.set(key, turn);
    void turn.then(() => {
      if (this.#queues.get(key) === turn) this.#queues.delete(key);
    });
    if (before === undefined) return release;
    try {
      await wait(atMost(before, LONGEST_WAIT_MS));
      return release;
    } catch (error) {
      // Whoever comes behind goes on waiting for whoever was before.
      void before.then(release);
      throw error;
    }
  }
}
