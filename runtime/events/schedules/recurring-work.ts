import { isDeepStrictEqual } from 'node:util';
import { time } from '../../concurrency/time.js';
import { nextDue } from '../../cron.js';
import type { Recurrence } from './recurrence.js';
import type { RecurrenceStore, StoredRecurrence } from './recurrence-store.js';

/** Time after which a due time without a run counts as missed, in milliseconds: longer than a take-over. */
const MISSED_AFTER_MS = 60_000;
/** Interval at which a process without recurring actions removes those of earlier releases, in milliseconds. */
const REMOVAL_MS = 60_000;

/**
 * Turns the due times of the recurring actions of one shard into scheduled actions.
 *
 * A process stores its recurrences when it starts, and the lease's holder follows the stored ones. So the process that
 * started last decides, also while another release holds the lease. Once it is gone, the holder's own ones are stored.
 */
export class RecurringWork {
  readonly #store: RecurrenceStore;
  readonly #own: ReadonlyMap<string, Recurrence>;
  #removalMs = 0;
  /** Whether a due time waits for the end of the previous run. */
  isHeldUp = false;

  /** @param all the recurrences of this process @param isDefaultShard whether those for one shard belong to this one */
  constructor(store: RecurrenceStore, all: ReadonlyMap<string, Recurrence>, isDefaultShard: boolean) {
    this.#store = store;
    this.#own = new Map([...all].filter(([, { on }]) => on === 'each-shard' || isDefaultShard));
  }

  /** Stores the recurrences of a process that starts. */
  register(process: string): Promise<void> {
    return this.#store.define(process, this.#own, true);
  }

  /**
   * Stores the runs that are due. Needs the lease.
   *
   * @returns milliseconds until it may have work again; 0 if runs may have been stored
   */
  async round(process: string): Promise<number> {
    if (this.#own.size === 0 && time.nowMs() < this.#removalMs) return Number.POSITIVE_INFINITY;
    this.#removalMs = time.nowMs() + REMOVAL_MS;
    const stored = new Map((await this.#store.read()).map((each) => [each.actionName, each]));
    const others = [...stored.values()].filter(({ actionName }) => !this.#own.has(actionName));
    for (const { actionName, isAbandoned } of others) if (isAbandoned) await this.#store.remove(actionName);
    const lacking = [...this.#own].filter(([name, own]) => mustDefine(own, stored.get(name)));
    await this.#store.define(process, new Map(lacking), false);
    this.isHeldUp = false;
    const waits = [...this.#own.keys()].map((name) => this.#advance(stored.get(name)));
    return Math.min(...(await Promise.all(waits)));
  }

  async #advance(stored: StoredRecurrence | undefined): Promise<number> {
    if (stored === undefined) return 0;
    const { recurrence, nextDate, now, isPaused, isRunning } = stored;
    const { missed, overlap } = recurrence;
    const lateMs = now.getTime() - nextDate.getTime();
    if (lateMs < 0) return -lateMs;
    const runs = !isPaused && !(missed === 'skip' && lateMs > MISSED_AFTER_MS);
    if (runs && isRunning && !overlap) {
      this.isHeldUp = true;
      return Number.POSITIVE_INFINITY;
    }
    const next = nextDue(recurrence, runs && missed === 'each' ? nextDate : now);
    await this.#store.advance(stored, next, runs);
    return 0;
  }
}

function mustDefine(own: Recurrence, stored: StoredRecurrence | undefined): boolean {
  return stored === undefined || (stored.isAbandoned && !isDeepStrictEqual(stored.recurrence, own));
}
