import { atMost } from '../../concurrency/at-most.js';
import { KeyedMutex, type Release } from '../../concurrency/keyed-mutex.js';

/** Maximum wait behind one turn, in milliseconds. Turns only save work, so an execution may continue without one. */
const LONGEST_WAIT_MS = 250;

/**
 * Executions that compete for one model run their `perform` one after the other. Without turns, only one of n
 * executions that read the same state could be sealed, and the others would run again, up to n times. An execution
 * takes turns only at models that are currently contended, in one global order, and before `perform` reads.
 */
export class RowQueues {
  readonly #queue = new KeyedMutex();

  /** Number of models at which an execution has a turn. */
  get size(): number {
    return this.#queue.size;
  }

  /** Whether an execution has a turn at this model. */
  isContended(key: string): boolean {
    return this.#queue.isTaken(key);
  }

  /**
   * Waits for a turn at every key. Returns a function that ends them.
   *
   * @param wait waits for others, within the limits of the caller
   * @throws errors of `wait`, after releasing all turns
   */
  async take(
    keys: readonly string[],
    wait: (others: Promise<void>) => Promise<void> = (others) => others,
  ): Promise<() => void> {
    const turns: Release[] = [];
    const end = (): void => {
      for (const release of turns) release();
    };
    try {
      for (const key of [...keys].sort()) {
        turns.push(this.#queue.tryEnter(key) ?? (await this.#enter(key, wait)));
      }
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /**
   * Resolves with the turn, or for the next in line when the turn before has not ended for the maximum wait: after a
   * pause of the process all would otherwise go on at once, and only one of them be applied. Returns a function that
   * leaves the queue.
   */
  async #enter(key: string, wait: (others: Promise<void>) => Promise<void>): Promise<Release> {
    const place = this.#queue.queue(key);
    try {
      let isNext = false;
      while (place.isWaiting && !isNext) {
        isNext = place.isNext;
        await wait(atMost(place.reached, LONGEST_WAIT_MS));
      }
      return place.leave;
    } catch (error) {
      place.leave();
      throw error;
    }
  }
}
