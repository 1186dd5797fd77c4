import { LogLimiter } from '../../concurrency/log-limiter.js';
import { sleep, time } from '../../concurrency/time.js';
import { SILENT } from '../../domain/logger.js';
import { messageOf } from '../../errors.js';
import { type LoggedEvent, modelKeyOf, modelOfKey } from '../log/event-record.js';
import type { WindowEntry } from '../log/model-window.js';
import type { FailureCount } from './attempts.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import type { CountedAttempts } from './counted-attempts.js';
import { failureOf } from './handler-attempts.js';
import type { LeasedLoop } from './leased-loop.js';
import type { HandlingFailure, ParkedLetter, Settlement } from './parking-store.js';

/** How often the parking table is checked for retries and discards. */
const REFRESH_MS = 1_000;
/** The pause between two checks is at least this many times as long as the last one, which reads all parked events. */
const PAUSE_FACTOR = 20;
/** Maximum events that are read, or written, in one statement: each may have megabytes. */
const PAGE = 50;
/** Maximum models that are resumed at the same time: each uses a connection, of which other work needs some. */
const RESUMED_AT_ONCE = 8;

export interface ParkedModelsDependencies {
  readonly loop: LeasedLoop;
  readonly counted: CountedAttempts;
  /** Makes one attempt at a parked event and deletes it. */
  readonly handle: (letter: ParkedLetter, number: number) => Promise<Settlement>;
  /** Called when only another release can handle a parked event. */
  readonly leave: (reason: string) => void;
  /** True: `refresh` waits for the models that it resumes, one after the other. */
  readonly inTurn: boolean;
}

interface ParkedModel {
  readonly key: string;
  /** How many of its events this run has parked: an outdated read of the table is detected by it. */
  parked: number;
  /** How many of them are not yet written. */
  pending: number;
  /** `paused`: an attempt has failed, and another one follows. */
  state: 'parked' | 'resuming' | 'paused';
  /** The event whose attempt has failed last, with its failures. */
  failed: (FailureCount & { readonly eventId: string }) | undefined;
  /** Id of the event whose retry needs a newer release, which has been reported. */
  tooNew?: string;
}

interface PendingEvent {
  readonly entry: WindowEntry;
  readonly failure: HandlingFailure | undefined;
}

/**
 * The models that are parked for one consumer. Writes their events to the parking table in order, and resumes them on
 * request.
 */
export class ParkedModels {
  readonly #options: ConsumerRunOptions;
  readonly #dependencies: ParkedModelsDependencies;
  readonly #log: LogLimiter;
  readonly #models = new Map<string, ParkedModel>();
  readonly #pending: PendingEvent[] = [];
  /** Models that are to be resumed. */
  readonly #due = new Set<ParkedModel>();
  #resuming = 0;
  #checkAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConsumerRunOptions, dependencies: ParkedModelsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#log = new LogLimiter({
      ...SILENT,
      warn: (facts, message) =>
        options.warn(
          'suppressed' in facts ? `${message}. ${facts.suppressed} more since the last line` : message,
        ),
    });
  }

  get models(): ReadonlyMap<string, unknown> {
    return this.#models;
  }

  /** Number of events that are to be written. */
  get pending(): number {
    return this.#pending.length;
  }

  get busy(): boolean {
    return this.#resuming > 0;
  }

  /** Must be called for an event that the caller has written to the parking table. */
  add(key: string): ParkedModel {
    const known = this.#models.get(key);
    const model = known ?? { key, parked: 0, pending: 0, state: 'parked' as const, failed: undefined };
    model.parked += 1;
    this.#models.set(key, model);
    return model;
  }

  /** Warns of an event whose last attempt has failed: at most once a second, because a release may fail them all. */
  report(event: LoggedEvent, { message }: HandlingFailure): void {
    const { name } = this.#options.consumer.lease;
    const text = `${name} cannot handle event ${event.id}: ${message}; ${modelKeyOf(event)} is parked`;
    this.#log.write('parked', () => ({ level: 'warn', message: text }));
  }

  /** @param failure undefined: the event waits behind a failed one, or for something that is out of reach */
  park(entry: WindowEntry, failure?: HandlingFailure): void {
    this.add(modelKeyOf(entry.event)).pending += 1;
    this.#pending.push({ entry, failure });
  }

  /** Writes the first events that are to be parked. @returns them; undefined if the lease has been lost */
  async write(): Promise<readonly WindowEntry[] | undefined> {
    const batch = this.#pending.slice(0, PAGE);
    if (batch.length === 0) return [];
    const { letters, consumer } = this.#options;
    const events = batch.map(({ entry: { event }, failure }) => ({ event, failure }));
    if (!(await letters.park(consumer.lease, events))) return undefined;
    this.#pending.splice(0, batch.length);
    for (const { event } of events) {
      const model = this.#models.get(modelKeyOf(event));
      if (model !== undefined) model.pending -= 1;
    }
    if (this.#pending.length > 0) this.#dependencies.loop.wakeUp.notify();
    return batch.map(({ entry }) => entry);
  }

  /** Resumes models: those whose pause is over and, when the table is due to be read, those that it names. */
  async refresh(): Promise<void> {
    for (const model of await this.#readTable()) if (model.state === 'parked') this.#due.add(model);
    for (const model of this.#due) {
      if (this.#resuming >= Math.min(this.#options.concurrency, RESUMED_AT_ONCE)) return;
      this.#due.delete(model);
      const resumed = this.#resume(model);
      if (this.#dependencies.inTurn) await resumed;
    }
  }

  /** Reads requested retries, discards and, the first time, all parked events. @returns the models to resume */
  async #readTable(): Promise<readonly ParkedModel[]> {
    const now = time.nowMs();
    const first = this.#checkAtMs === Number.NEGATIVE_INFINITY;
    if (!first && (this.#models.size === 0 || now < this.#checkAtMs)) return [];
    const before = [...this.#models.values()].filter(({ pending }) => pending === 0);
    const counts = before.map(({ parked }) => parked);
    const found = await this.#options.letters.parkedModels(this.#options.consumer.lease.name);
    this.#checkAtMs = now + Math.max(REFRESH_MS, PAUSE_FACTOR * (time.nowMs() - now));
    if (first) for (const { key } of found) this.add(key);
    const keys = new Set(found.map(({ key }) => key));
    for (const [index, model] of before.entries())
      if (!keys.has(model.key) && model.parked === counts[index] && model.state !== 'resuming')
        this.#remove(model);
    return found.flatMap(({ key, retry }) => (retry ? [this.#models.get(key) ?? this.add(key)] : []));
  }

  /** Never rejects. New events of the model are parked behind the resumed ones until none is left. */
  async #resume(model: ParkedModel): Promise<void> {
    model.state = 'resuming';
    this.#resuming += 1;
    try {
      while (this.#dependencies.loop.mayWork && (await this.#resumePage(model)));
    } catch (error) {
      this.#options.warn(`${model.key} cannot be resumed: ${messageOf(error)}`);
    }
    this.#resuming -= 1;
    if (model.state === 'resuming') model.state = 'parked';
    this.#dependencies.loop.wakeUp.notify();
  }

  /** False if the model has no more events to resume, or if its next event failed. */
  async #resumePage(model: ParkedModel): Promise<boolean> {
    const { letters, consumer } = this.#options;
    if (model.pending > 0) {
      await sleep(10);
      return this.#dependencies.loop.mayWork;
    }
    const count = model.parked;
    const parked = await letters.of(consumer.lease.name, modelOfKey(model.key), PAGE);
    if (parked.length === 0 && model.parked === count) {
      this.#remove(model);
      return false;
    }
    for (const letter of parked) if (!(await this.#attempt(model, letter))) return false;
    return true;
  }

  #remove(model: ParkedModel): void {
    this.#models.delete(model.key);
    this.#forgetFailed(model);
  }

  /** An event that failed and is not attempted again was discarded. */
  #forgetFailed(model: ParkedModel): void {
    if (model.failed !== undefined) this.#dependencies.counted.settled(model.failed.eventId);
    model.failed = undefined;
  }

  /** Makes one attempt at the first event of a model. True: the event is settled. */
  async #attempt(model: ParkedModel, letter: ParkedLetter): Promise<boolean> {
    const { counted, handle, loop } = this.#dependencies;
    const { id } = letter.event;
    if (!loop.mayWork) return false;
    if (this.#options.attempts.isTooNew(letter.event)) {
      this.#reportTooNew(model, letter.event);
      return false;
    }
    const failed = model.failed?.eventId === id ? model.failed : undefined;
    const count = failed ?? { eventId: id, attempts: counted.of(id), passed: 0 };
    if (failed === undefined) this.#forgetFailed(model);
    model.failed = undefined;
    try {
      const settlement = await counted.attempt(id, count, () => handle(letter, count.attempts + 1));
      if (settlement === undefined) return false;
      counted.settled(id);
      // `gone`: an attempt whose reply was lost has deleted the row.
      return settlement !== 'lost';
    } catch (error) {
      if (loop.signal.aborted) return false;
      model.failed = count;
      await this.#failed(model, letter, error);
      return false;
    }
  }

  /** The run keeps its lease: other events do not need the newer release, which takes over once it runs. */
  #reportTooNew(model: ParkedModel, { id, eventType, eventVersion }: ParkedLetter['event']): void {
    if (model.tooNew === id) return;
    model.tooNew = id;
    this.#options.warn(
      `${model.key} cannot be resumed: event ${id} (${eventType} version ${eventVersion}) is newer than this process ` +
        'knows. A process of a newer release resumes it',
    );
  }

  async #failed(model: ParkedModel, letter: ParkedLetter, error: unknown): Promise<void> {
    const { counted, leave, loop } = this.#dependencies;
    const { letters, consumer } = this.#options;
    const { failed: count } = model;
    if (count === undefined) return;
    const verdict = counted.failed(error, count.eventId, count);
    if (verdict.kind === 'leave') return leave(verdict.reason);
    if (!('pauseMs' in verdict)) {
      this.#forgetFailed(model);
      return letters.fail(consumer.lease, letter, failureOf(error, count.attempts));
    }
    model.state = 'paused';
    const resume = (): void => {
      if (this.#models.get(model.key) !== model) return;
      model.state = 'parked';
      this.#due.add(model);
      loop.wakeUp.notify();
    };
    time.setTimeout(resume, verdict.pauseMs).unref();
  }
}
