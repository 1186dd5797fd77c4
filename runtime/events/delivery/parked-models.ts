import { sleep, time } from '../../concurrency/time.js';
import { messageOf } from '../../errors.js';
import { modelOfKey } from '../log/event-record.js';
import { OtherReleaseNeeded, type RunContext } from './attempts.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import { type CrashSuspects, diedOf } from './crash-suspects.js';
import { countFailure, type FailureCount } from './failure-count.js';
import { failureOf } from './handler-attempts.js';
import type { ParkedLetter } from './parking-store.js';

/** How often the parking table is checked for retries and discards. */
const REFRESH_MS = 1_000;
const PAGE = 100;

export interface ParkedModelsDependencies {
  readonly suspects: CrashSuspects;
  readonly changed: () => void;
  /** False: no attempt may start. */
  readonly mayWork: () => boolean;
  readonly isParking: (key: string) => boolean;
  /** Called when only another release can handle a parked event. */
  readonly leave: (cause: OtherReleaseNeeded) => void;
}

/** The models that are parked for one consumer; resumes them on request. */
export class ParkedModels {
  readonly #options: ConsumerRunOptions;
  readonly #context: RunContext;
  readonly #dependencies: ParkedModelsDependencies;
  /** Count of parked events by model, so that an outdated read of the table can be detected. */
  readonly #models = new Map<string, number>();
  readonly #resuming = new Set<string>();
  #refreshedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConsumerRunOptions, context: RunContext, dependencies: ParkedModelsDependencies) {
    this.#options = options;
    this.#context = context;
    this.#dependencies = dependencies;
  }

  get any(): boolean {
    return this.#models.size > 0;
  }

  /** Whether a model is being resumed. */
  get busy(): boolean {
    return this.#resuming.size > 0;
  }

  has(key: string): boolean {
    return this.#models.size > 0 && this.#models.has(key);
  }

  /** Must be called for every event that is written to the parking table. */
  add(key: string): void {
    this.#models.set(key, (this.#models.get(key) ?? 0) + 1);
  }

  /** Reads the table when it is due: for requested retries, for discards, and initially for all parked events. */
  async refresh(): Promise<void> {
    const now = time.nowMs();
    const first = this.#refreshedMs === Number.NEGATIVE_INFINITY;
    if (!first && (this.#models.size === 0 || now - this.#refreshedMs < REFRESH_MS)) return;
    const before = [...this.#models].filter(([key]) => !this.#dependencies.isParking(key));
    const found = await this.#options.letters.parkedModels(this.#options.consumer.lease.name);
    this.#refreshedMs = now;
    if (first) for (const { key } of found) this.add(key);
    const keys = new Set(found.map(({ key }) => key));
    for (const [key, count] of before) {
      if (!keys.has(key) && this.#models.get(key) === count && !this.#resuming.has(key))
        this.#models.delete(key);
    }
    for (const { key, retry } of found) if (retry && !this.#resuming.has(key)) void this.#resume(key);
  }

  /** Never rejects. New events of the model are parked behind the resumed ones until none is left. */
  async #resume(key: string): Promise<void> {
    this.#resuming.add(key);
    try {
      while (await this.#resumePage(key));
    } catch (error) {
      this.#options.warn(`${key} cannot be resumed: ${messageOf(error)}`);
    }
    this.#resuming.delete(key);
    this.#dependencies.changed();
  }

  /** False if the model has no more events to resume, or if its next event failed. */
  async #resumePage(key: string): Promise<boolean> {
    const { letters, consumer } = this.#options;
    if (this.#dependencies.isParking(key)) {
      await sleep(10);
      return this.#dependencies.mayWork();
    }
    const count = this.#models.get(key);
    const parked = await letters.of(consumer.lease.name, modelOfKey(key), PAGE);
    if (parked.length === 0 && this.#models.get(key) === count) {
      this.#models.delete(key);
      return false;
    }
    for (const letter of parked) if (!(await this.#retry(letter))) return false;
    return true;
  }

  async #retry(letter: ParkedLetter): Promise<boolean> {
    const { attempts, letters, consumer } = this.#options;
    const { suspects, mayWork } = this.#dependencies;
    const { event } = letter;
    if (attempts.isTooNew(event)) return false;
    const before = suspects.attemptsOf(event.id);
    const count: FailureCount = { attempts: before, passed: 0 };
    while (!this.#context.signal.aborted && mayWork()) {
      try {
        const died = count.attempts === before ? diedOf(attempts, suspects, event.id, before) : undefined;
        if (died !== undefined) throw died;
        const number = count.attempts + 1;
        const handle = (): Promise<void> | void =>
          attempts.handle(event, { number, transaction: undefined }, this.#context);
        if (!(await suspects.attempt(event.id, number, handle))) return false;
        suspects.settled(event.id);
        // `gone`: an attempt whose reply was lost has deleted the row. This attempt's effects are those of a
        // redelivery.
        return (await letters.settle(consumer.lease, event.id)) !== 'lost';
      } catch (error) {
        if (this.#context.signal.aborted) return false;
        if (error instanceof OtherReleaseNeeded) {
          suspects.failed(event.id, count.attempts);
          this.#dependencies.leave(error);
          return false;
        }
        const pauseMs = countFailure(error, { id: event.id, count }, { attempts, suspects });
        if (pauseMs === undefined) {
          suspects.settled(event.id);
          await letters.fail(consumer.lease, letter, failureOf(error, count.attempts));
          return false;
        }
        await sleep(pauseMs, { ref: false });
      }
    }
    return false;
  }
}
