import { time } from '../../concurrency/time.js';
import { messageOf } from '../../errors.js';
import { type Attempts, type FailureCount, OtherReleaseNeeded, type Outcome } from './attempts.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import type { ConsumerStore } from './consumer-store.js';
import type { LeasedLoop } from './leased-loop.js';
import { ReceiverOutage } from './receiver-outage.js';

/** Maximum events that a process handles one at a time after another one has vanished without progress. */
const CAREFUL_EVENTS = 1_000;
/** Maximum number of events with stored failures; attempts of further events restart at zero after a take-over. */
const MOST_STORED = 100;

/** Minimum pause, in milliseconds: without one, a handler that fails at once would keep the process from other work. */
const SHORTEST_PAUSE_MS = 1;

/** The failure of a parked event during whose attempts one process after the other died. */
export class HandlerDied extends Error {
  readonly code = 'FW_HANDLER_DIED';

  constructor(attempts: number) {
    super(`The process crashed during each of ${attempts} attempts`);
    this.name = 'HandlerDied';
  }
}

/**
 * Counts the attempts at events. Failed ones are stored, so that they count after a take-over. An event may also end its
 * process; without such deaths this costs no statement. With a maximum of 2 attempts:
 *
 * | process | what it does                                                                      | stored        |
 * |---------|-----------------------------------------------------------------------------------|---------------|
 * | 1       | dies before its first checkpoint                                                  |               |
 * | 2       | starts where 1 started: is careful, counts each attempt first, dies during event e | e: 1, open   |
 * | 3       | is careful, dies during event e                                                   | e: 2, open    |
 * | 4       | parks event e with `FW_HANDLER_DIED`                                              |               |
 */
export class CountedAttempts {
  readonly #attempts: Attempts;
  readonly #consumers: ConsumerStore;
  readonly #loop: LeasedLoop;
  readonly #outage: ReceiverOutage;
  /** What operators see of each event that has failed more than once and is attempted again. */
  readonly #failing = new Map<string, string>();
  /** Stored attempts by event: those that failed, and the open one. */
  readonly #stored: Map<string, number>;
  /** The obstacle as stored in the consumer's row. */
  #obstacle: string | undefined;
  /** Events whose counted attempts are in progress. */
  readonly #open = new Set<string>();
  /** The event whose attempt was the only open one when the previous holder vanished. */
  #suspect: string | undefined;
  /** The open attempts as they are stored. */
  #storedOpen: readonly string[];
  /** How many more events are handled one at a time. */
  #careful: number;
  #unsettled = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #writing: Promise<unknown> = Promise.resolve();
  #nextWrite: Promise<boolean> | undefined;

  constructor(
    {
      consumers,
      consumer,
      attempts,
      warn,
    }: Pick<ConsumerRunOptions, 'attempts' | 'consumer' | 'consumers' | 'warn'>,
    loop: LeasedLoop,
  ) {
    this.#attempts = attempts;
    this.#consumers = consumers;
    this.#outage = new ReceiverOutage(consumer.lease.name, warn);
    this.#loop = loop;
    this.#stored = new Map(Object.entries(consumer.attempts));
    this.#suspect = consumer.died.length === 1 ? consumer.died[0] : undefined;
    this.#storedOpen = consumer.died;
    this.#careful = consumer.stuck || consumer.died.length > 0 ? CAREFUL_EVENTS : 0;
  }

  /** Whether events are handled one at a time, each attempt through `attempt`. */
  get isCareful(): boolean {
    return this.#careful > 0;
  }

  /** Stores what prevents the handler from working, for operators. */
  async reportObstacle(): Promise<void> {
    const obstacle = this.#outage.obstacle ?? this.#firstFailing;
    if (obstacle === this.#obstacle) return;
    if (await this.#consumers.noteObstacle(this.#loop.lease.lease, obstacle)) this.#obstacle = obstacle;
  }

  get #firstFailing(): string | undefined {
    return this.#failing.values().next().value;
  }

  /** Attempts at an event by earlier holders. */
  of(eventId: string): number {
    return this.#stored.get(eventId) ?? 0;
  }

  /** Must be called for the events that are read. */
  read(count: number): void {
    if (this.#careful > 0) this.#unsettled += count;
  }

  /** Called at the end of the log: no process has attempted later events. */
  caughtUp(): void {
    this.#careful = Math.min(this.#careful, this.#unsettled);
  }

  /**
   * Makes an attempt that is counted before it starts.
   *
   * @param count the failures of the event
   * @returns undefined if the attempt could not be counted and was not made
   * @throws HandlerDied once for the event during whose last attempt the previous holder vanished
   */
  async attempt<T>(eventId: string, count: FailureCount, work: () => Promise<T>): Promise<T | undefined> {
    if (eventId === this.#suspect) this.#requireAnotherAttempt(count);
    const number = count.attempts + 1;
    if (!this.isCareful) return this.#count(eventId, number, work);
    const made = this.#turn.then(() => (this.#loop.mayWork ? this.#count(eventId, number, work) : undefined));
    this.#turn = made.catch(() => {});
    return made;
  }

  #requireAnotherAttempt(count: FailureCount): void {
    const died = new HandlerDied(count.attempts);
    // `failed` counts the attempt again.
    const before = { attempts: count.attempts - 1, passed: count.passed };
    if ('pauseMs' in this.#attempts.judge(died, before)) return;
    count.attempts -= 1;
    this.#suspect = undefined;
    throw died;
  }

  /** Counts a failure. @returns what becomes of the event */
  failed(error: unknown, eventId: string, count: FailureCount): Outcome {
    if (error instanceof OtherReleaseNeeded) {
      this.#left(eventId, count.attempts);
      return { kind: 'leave', reason: error.message };
    }
    const verdict = this.#attempts.judge(error, count);
    const isPassing = verdict.kind === 'pass';
    count.passed = isPassing ? count.passed + 1 : 0;
    if (!isPassing) count.attempts += 1;
    if (isPassing && verdict.cause === 'receiver') this.#outage.waits(eventId, error);
    else this.#outage.ended(eventId);
    if (!('pauseMs' in verdict)) return verdict;
    if (verdict.kind === 'retry') this.#attempts.retrying?.(eventId, count.attempts, error);
    // A single failure is no obstacle: its retry follows soon, and each obstacle costs a statement.
    const isObstacle =
      verdict.kind === 'retry' ? count.attempts > 1 : verdict.cause === 'elsewhere' && count.passed > 1;
    if (isObstacle)
      this.#failing.set(
        eventId,
        `attempt ${count.attempts + 1} at event ${eventId} after: ${messageOf(error)}`,
      );
    this.#left(eventId, count.attempts);
    return { ...verdict, pauseMs: Math.max(SHORTEST_PAUSE_MS, verdict.pauseMs) };
  }

  /** Stores the failed attempts at an event that is attempted again later. */
  #left(eventId: string, attempts: number): void {
    if (this.of(eventId) === attempts && !this.#storedOpen.includes(eventId)) return;
    if (!this.#stored.has(eventId) && this.#stored.size >= MOST_STORED) return;
    if (attempts === 0) this.#stored.delete(eventId);
    else this.#stored.set(eventId, attempts);
    this.#write().catch(() => {});
  }

  /** Called when an event is settled. If it is handled again on request, its attempts restart at zero. */
  settled(eventId: string): void {
    this.#outage.ended(eventId);
    this.#failing.delete(eventId);
    if (!this.isCareful && this.#stored.size === 0) return;
    if (this.#careful > 0) this.#careful -= 1;
    if (this.#unsettled > 0) this.#unsettled -= 1;
    if (eventId === this.#suspect) this.#suspect = undefined;
    if (this.#stored.delete(eventId) && (this.#stored.size === 0 || this.#storedOpen.includes(eventId)))
      this.#write().catch(() => {});
  }

  /** Waits until everything is stored. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #count<T>(eventId: string, number: number, work: () => Promise<T>): Promise<T | undefined> {
    const before = this.of(eventId);
    this.#stored.set(eventId, number);
    this.#open.add(eventId);
    try {
      if (!(await this.#write().catch(() => false))) {
        this.#stored.set(eventId, before);
        return undefined;
      }
      return await work();
    } finally {
      this.#open.delete(eventId);
    }
  }

  /** Calls during a statement share the next one. */
  #write(): Promise<boolean> {
    this.#nextWrite ??= this.#writeAfter(this.#writing);
    return this.#nextWrite;
  }

  #writeAfter(earlier: Promise<unknown>): Promise<boolean> {
    const written = earlier.then(async () => {
      this.#nextWrite = undefined;
      const { lease, durationMs } = this.#loop.lease;
      const askedMs = time.nowMs();
      this.#storedOpen = [...this.#open];
      const notes = { attempts: Object.fromEntries(this.#stored), open: this.#storedOpen };
      const stored = await this.#consumers.storeAttempts(lease, notes, durationMs);
      if (stored) this.#loop.lease.renewed(askedMs);
      return stored;
    });
    this.#writing = written.catch(() => {});
    return written;
  }
}
