import { isDeepStrictEqual } from 'node:util';
import { nextDue } from '../../cron.js';
import type { Recurrence } from './recurrence.js';
import type { RecurrenceStore, StoredRecurrence } from './recurrence-store.js';

/** Time after which a due time without a run counts as missed, in milliseconds: longer than a take-over. */
const MISSED_AFTER_MS = 60_000;

/**
 * Turns the due times of the recurring actions of one shard into scheduled actions.
 *
 * A process stores its recurrences when it starts, and the lease's holder follows the stored ones. So the process that
 * started last decides, also while another release holds the lease. Once it is gone, the holder's own ones are stored.
 */
export class RecurringWork {
  readonly #store: RecurrenceStore;
  readonly #own: ReadonlyMap<string, Recurrence>;
  /** When this process started, by the database's clock. */
  #since: Date | undefined;
  /** Whether a due time waits for the end of the previous run. */
  isHeldUp = false;

  /** @param all the recurrences of this process @param isDefaultShard whether those for one shard belong to this one */
  constructor(store: RecurrenceStore, all: ReadonlyMap<string, Recurrence>, isDefaultShard: boolean) {
    this.#store = store;
    this.#own = new Map([...all].filter(([, { on }]) => on === 'each-shard' || isDefaultShard));
  }

  /** Stores the recurrences of a process that starts, and again after a failover, which may have lost them. */
  async register(process: string): Promise<void> {
    this.#since = await this.#store.define(process, this.#own, this.#since);
  }

  /**
   * Stores the runs that are due. Needs the lease.
   *
   * @param isEmpty whether the shard has no recurring action
   * @returns milliseconds until it may have work again; 0 if runs may have been stored
   */
  async round(process: string, isEmpty: boolean): Promise<number> {
    if (isEmpty && this.#own.size === 0) return Number.POSITIVE_INFINITY;
    const stored = new Map((await this.#store.read()).map((each) => [each.actionName, each]));
    const lacking = [...this.#own].filter(([name, own]) => mustDefine(own, stored.get(name)));
    if (lacking.length > 0) {
      await this.#store.define(process, new Map(lacking), this.#since);
      return 0;
    }
    this.isHeldUp = false;
    return Math.min(...(await Promise.all([...stored.values()].map((each) => this.#advance(each)))));
  }

  /** Actions that only another release knows have runs, too, which wait for a process that knows them. */
  async #advance(stored: StoredRecurrence): Promise<number> {
    const { actionName, recurrence, nextDate, now, isPaused, isRunning, isAbandoned } = stored;
    if (isAbandoned && !this.#own.has(actionName)) {
      await this.#store.remove(actionName);
      return 0;
    }
    const { missed, overlap } = recurrence;
    const lateMs = now.getTime() - nextDate.getTime();
    if (lateMs < 0) return -lateMs;
    const runs = !isPaused && !(missed === 'skip' && lateMs > MISSED_AFTER_MS);
    if (runs && isRunning && !overlap) {
      this.isHeldUp = true;
      return Number.POSITIVE_INFINITY;
    }
    await this.#store.advance(stored, nextDue(recurrence, runs && missed === 'each' ? nextDate : now), runs);
    return 0;
  }
}

function mustDefine(own: Recurrence, stored: StoredRecurrence | undefined): boolean {
  return stored === undefined || (stored.isAbandoned && !isDeepStrictEqual(stored.recurrence, own));
}
