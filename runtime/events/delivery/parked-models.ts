import { Semaphore } from '../../concurrency/semaphore.js';
import { sleep, time } from '../../concurrency/time.js';
import { messageOf } from '../../errors.js';
import { modelOfKey } from '../log/event-record.js';
import { OtherReleaseNeeded } from './attempts.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import type { CountedAttempts, FailureCount } from './counted-attempts.js';
import { failureOf } from './handler-attempts.js';
import type { LeasedLoop } from './leased-loop.js';
import type { ParkedLetter, Settlement } from './parking-store.js';

/** How often the parking table is checked for retries and discards. */
const REFRESH_MS = 1_000;
const PAGE = 100;
/** Maximum time until a pause notices the end of the run, in milliseconds. */
const PAUSE_STEP_MS = 50;

export interface ParkedModelsDependencies {
  readonly loop: LeasedLoop;
  readonly counted: CountedAttempts;
  /** Makes one attempt at a parked event and deletes it. */
  readonly handle: (letter: ParkedLetter, number: number) => Promise<Settlement>;
  /** Whether events of this model are about to be parked. */
  readonly isParking: (key: string) => boolean;
  /** Called when only another release can handle a parked event. */
  readonly leave: (cause: OtherReleaseNeeded) => void;
  /** True: `refresh` waits for the models that it resumes, one after the other. */
  readonly inTurn: boolean;
}

/** The models that are parked for one consumer; resumes them on request. */
export class ParkedModels {
  readonly #options: ConsumerRunOptions;
  readonly #dependencies: ParkedModelsDependencies;
  /** Count of parked events by model, so that an outdated read of the table can be detected. */
  readonly #models = new Map<string, number>();
  readonly #resuming = new Set<string>();
  /** Models whose last attempt did not count: when the next one is due, and how many there were. */
  readonly #waits = new Map<string, { readonly untilMs: number; readonly passed: number }>();
  /** Models that are worked on at the same time. */
  readonly #working: Semaphore;
  #refreshedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConsumerRunOptions, dependencies: ParkedModelsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#working = new Semaphore(options.concurrency);
  }

  get any(): boolean {
    return this.#models.size > 0;
  }

  /** Number of models. */
  get size(): number {
    return this.#models.size;
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
    const { isParking, inTurn } = this.#dependencies;
    const before = [...this.#models].filter(([key]) => !isParking(key));
    const found = await this.#options.letters.parkedModels(this.#options.consumer.lease.name);
    this.#refreshedMs = now;
    if (first) for (const { key } of found) this.add(key);
    const keys = new Set(found.map(({ key }) => key));
    for (const [key, count] of before) {
      if (!keys.has(key) && this.#models.get(key) === count && !this.#resuming.has(key)) this.#forget(key);
    }
    for (const { key, retry } of found) {
      if (!retry || this.#resuming.has(key) || (this.#waits.get(key)?.untilMs ?? 0) > now) continue;
      const resumed = this.#resume(key);
      if (inTurn) await resumed;
    }
  }

  /** Never rejects. New events of the model are parked behind the resumed ones until none is left. */
  async #resume(key: string): Promise<void> {
    this.#resuming.add(key);
    await this.#working.enter();
    try {
      while (this.#dependencies.loop.mayWork && (await this.#resumePage(key)));
    } catch (error) {
      this.#options.warn(`${key} cannot be resumed: ${messageOf(error)}`);
    }
    this.#working.leave();
    this.#resuming.delete(key);
    this.#dependencies.loop.wakeUp.notify();
  }

  /** False if the model has no more events to resume, or if its next event failed. */
  async #resumePage(key: string): Promise<boolean> {
    const { letters, consumer } = this.#options;
    const { isParking, loop } = this.#dependencies;
    if (isParking(key)) {
      await sleep(10);
      return loop.mayWork;
    }
    const count = this.#models.get(key);
    const parked = await letters.of(consumer.lease.name, modelOfKey(key), PAGE);
    if (parked.length === 0 && this.#models.get(key) === count) {
      this.#forget(key);
      return false;
    }
    for (const letter of parked) if (!(await this.#retry(key, letter))) return false;
    return true;
  }

  #forget(key: string): void {
    this.#models.delete(key);
    this.#waits.delete(key);
  }

  /**
   * Attempts a parked event until it is settled, has failed for the last time, or an attempt did not count: then the
   * model waits for a later `refresh`, and others are resumed. True: it is settled.
   */
  async #retry(key: string, letter: ParkedLetter): Promise<boolean> {
    const { attempts, letters, consumer } = this.#options;
    const { counted, handle, loop } = this.#dependencies;
    const { event } = letter;
    if (attempts.isTooNew(event)) return false;
    const count: FailureCount = {
      attempts: counted.of(event.id),
      passed: this.#waits.get(key)?.passed ?? 0,
    };
    while (loop.mayWork) {
      try {
        const died = counted.death(event.id, count);
        if (died !== undefined) throw died;
        let settled: Settlement = 'lost';
        const attempt = async (): Promise<void> => {
          settled = await handle(letter, count.attempts + 1);
        };
        if (!(await counted.attempt(event.id, count.attempts + 1, attempt))) return false;
        counted.settled(event.id);
        this.#waits.delete(key);
        // `gone`: an attempt whose reply was lost has deleted the row.
        return (settled as Settlement) !== 'lost';
      } catch (error) {
        if (loop.signal.aborted) return false;
        if (error instanceof OtherReleaseNeeded) {
          counted.left(event.id, count.attempts);
          this.#dependencies.leave(error);
          return false;
        }
        const pauseMs = counted.failed(error, event.id, count);
        if (pauseMs === undefined) {
          counted.settled(event.id);
          await letters.fail(consumer.lease, letter, failureOf(error, count.attempts));
          return false;
        }
        if (count.passed > 0) {
          this.#waits.set(key, { untilMs: time.nowMs() + pauseMs, passed: count.passed });
          return false;
        }
        this.#waits.delete(key);
        await this.#pause(pauseMs);
      }
    }
    return false;
  }

  /** Other models are worked on meanwhile. */
  async #pause(milliseconds: number): Promise<void> {
    this.#working.leave();
    const untilMs = time.nowMs() + milliseconds;
    for (
      let leftMs = milliseconds;
      leftMs > 0 && this.#dependencies.loop.mayWork;
      leftMs = untilMs - time.nowMs()
    )
      await sleep(Math.min(leftMs, PAUSE_STEP_MS), { ref: false });
    await this.#working.enter();
  }
}
