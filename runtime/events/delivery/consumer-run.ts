import { type Timer, time } from '../../concurrency/time.js';
import type { RunContext } from '../log/event-envelope.js';
import { isSamePlace, type LogCursor, type LoggedEvent, modelKeyOf } from '../log/event-record.js';
import { freshAtOnce, type ModelQueue, ModelWindow, type WindowEntry } from '../log/model-window.js';
import { RunInterrupted } from './attempts.js';
import { Checkpoint } from './checkpoint.js';
import { type ConsumerRunOptions, countAge } from './consumer-run-options.js';
import { CountedAttempts } from './counted-attempts.js';
import { HandledEvents } from './handled-events.js';
import { failureOf } from './handler-attempts.js';
import {
  FAILURE_PAUSE_MS,
  type LeasedLoop,
  type LeasedWork,
  type RunEnd,
  SUPERSEDED_GRACE_MS,
} from './leased-loop.js';
import { LogSource } from './log-source.js';
import { ParkedModels } from './parked-models.js';

/**
 * Maximum events in memory. A model that pauses after a failure delays the checkpoint, but no other model: when this
 * many events have been read behind it, its event is given up before its last attempt.
 */
const MAXIMUM_WINDOW = 4_000;
const PAGE = 1_000;
/** Maximum models that are set aside in the parking table, beyond which the others wait. */
const MAXIMUM_ASIDE = 10_000;
/** Maximum time for the attempts in progress when the consumer is to halt: a receiver may let them wait for ever. */
const HALT_GRACE_MS = 10_000;

/** Maximum time between saves of the checkpoint while there is progress to save, in milliseconds. */
const CHECKPOINT_MS = 100;

interface Pause {
  readonly pauseMs: number;
  /** Undefined if the attempt was not made. */
  readonly error?: unknown;
  /** Whether the attempt did not count, and other events may not need what is out of reach. */
  readonly isElsewhere?: boolean;
}

interface Paused extends Pause {
  readonly queue: ModelQueue;
  readonly timer: Timer;
}

/** Runs a handler with external effects: at least once, in order per model, several models in parallel. */
export class ConsumerRun implements LeasedWork {
  readonly #options: ConsumerRunOptions;
  readonly #loop: LeasedLoop;
  readonly #window = new ModelWindow();
  readonly #context: RunContext;
  readonly #parked: ParkedModels;
  readonly #counted: CountedAttempts;
  readonly #handled = new HandledEvents();
  readonly #checkpoint: Checkpoint;
  /** The cursor up to which all events are done, if it is not saved. */
  #unsaved: LogCursor | undefined;
  #savedMs = 0;
  readonly #source: LogSource;
  readonly #paused = new Set<Paused>();
  #active = 0;
  #dispatching = false;
  /** Number of events that this run leaves to another release, in the window. */
  #left = 0;
  #halt: RunEnd | undefined;

  constructor(options: ConsumerRunOptions, loop: LeasedLoop) {
    const { consumer, context } = options;
    this.#options = options;
    this.#loop = loop;
    this.#context = { ...context, signal: loop.signal };
    this.#counted = new CountedAttempts(options, loop);
    this.#source = new LogSource(options, loop, this.#counted);
    this.#checkpoint = new Checkpoint(options, loop);
    this.#parked = new ParkedModels(options, {
      loop,
      counted: this.#counted,
      handle: async ({ event }, number) => {
        await options.attempts.handle(event, { number, transaction: undefined }, this.#context);
        return options.letters.settle(consumer.lease, event.id);
      },
      leave: (reason) => this.#source.leave(reason),
      inTurn: false,
    });
  }

  woken(): void {
    this.#source.woken();
  }

  async round(): Promise<void> {
    if (!this.#leaves) await this.#parked.refresh();
    await this.#counted.reportObstacle();
    await this.#step();
  }

  async windDown(): Promise<void> {
    if (this.#loop.state !== 'superseded') await this.#step();
    else if (this.#loop.signal.aborted || (this.#active === 0 && !this.#parked.busy))
      this.#loop.finish({ kind: 'superseded', handled: this.#handled.recent() });
    else await this.#loop.wakeUp.wait(SUPERSEDED_GRACE_MS);
  }

  /**
   * Saves the progress of a process that was blocked for longer than the lease, for example by a handler. If no other
   * process has taken over, it still holds the lease. Without this, it would restart with the event that blocked it.
   */
  async regain(): Promise<void> {
    this.#advance();
    await this.#save(true);
  }

  async close(): Promise<void> {
    await this.#counted.idle();
  }

  async #step(): Promise<void> {
    const { readAhead = MAXIMUM_WINDOW } = this.#options;
    const isFull = this.#window.size >= MAXIMUM_WINDOW;
    if (isFull || this.#leaves) this.#makeRoom(isFull);
    const reads =
      this.#loop.state === 'working' &&
      this.#source.end === undefined &&
      !isFull &&
      this.#window.open < readAhead;
    const [waitMs] = await Promise.all([
      reads ? this.#read(readAhead) : this.#options.pollMs(),
      this.#park(),
      this.#save(),
    ]);
    this.#dispatch();
    await this.#park();
    this.#advance();
    if (this.#isIdle()) await this.#settleDown();
    else if (waitMs > 0 && this.#loop.state !== 'ended') await this.#loop.wakeUp.wait(this.#pauseMs(waitMs));
  }

  /** Called when no attempt is in progress: saves the checkpoint, and ends the run if it is to end. */
  async #settleDown(): Promise<void> {
    const loop = this.#loop;
    const { end, quietMs } = this.#source;
    await this.#save(loop.state === 'stopped' || end !== undefined);
    if (!this.#maySave) return;
    if (loop.state === 'stopped') loop.finish(this.#halt ?? { kind: 'stopped' });
    else if (end !== undefined && !(end.kind === 'finished' && this.#parked.models.size > 0))
      loop.finish(end);
    else await loop.wakeUp.wait(this.#pauseMs(quietMs));
  }

  #isIdle(): boolean {
    const isStopped = this.#loop.state === 'stopped';
    // A handler that ignores the signal is abandoned; its event is delivered again.
    if (isStopped && this.#loop.signal.aborted) return true;
    const quiet = isStopped || this.#source.end !== undefined || this.#source.quietMs > 0;
    const still = this.#active === 0 && this.#parked.pending === 0 && !this.#parked.busy;
    return quiet && still && (isStopped || this.#window.open === this.#left);
  }

  #pauseMs(waitMs: number): number {
    return this.#unsaved === undefined ? waitMs : Math.min(waitMs, CHECKPOINT_MS);
  }

  /** Reads the next page. Returns the milliseconds until the next read; 0 if there may be more events. */
  async #read(readAhead: number): Promise<number> {
    const before = this.#source.cursor;
    const isAhead = this.#window.open + 2 * PAGE <= readAhead;
    for (const event of await this.#source.read(PAGE, isAhead)) this.#admit(event);
    const { cursor, quietMs, end } = this.#source;
    if (cursor !== before) this.#window.mark(cursor);
    return end === undefined ? quietMs : 0;
  }

  #admit(event: LoggedEvent): void {
    if (this.#parked.models.has(modelKeyOf(event))) this.#parked.park(this.#window.admitAside(event));
    else this.#window.admit(event, this.#counted.of(event.id));
  }

  /** A handler that returns synchronously re-enters this method; the loop then serves the call. */
  #dispatch(): void {
    if (this.#dispatching) return;
    this.#dispatching = true;
    while (this.#loop.mayWork && this.#active < this.#options.concurrency) {
      const queue = this.#window.take();
      if (queue === undefined) break;
      this.#active += 1;
      void this.#work(queue);
    }
    this.#dispatching = false;
  }

  /** Handles the queued events of one model, one after the other. Never rejects. */
  async #work(queue: ModelQueue): Promise<void> {
    let pause: Pause | undefined;
    while (pause === undefined && queue.entries.length > 0 && this.#loop.mayWork) {
      try {
        const attempt = this.#attempt(queue);
        const handled = typeof attempt === 'number' ? attempt : await attempt;
        this.#handledFirst(queue, handled);
        if (handled === 0) pause = { pauseMs: FAILURE_PAUSE_MS };
      } catch (error) {
        const isRun = error instanceof RunInterrupted;
        if (isRun) this.#handledFirst(queue, error.handled);
        if (this.#loop.signal.aborted) break;
        pause = this.#failed(queue, isRun ? error.cause : error);
      }
    }
    this.#active -= 1;
    if (pause === undefined) this.#giveBack(queue);
    else this.#pause(queue, pause);
  }

  #pause(queue: ModelQueue, pause: Pause): void {
    const timer = time.setTimeout(() => {
      this.#paused.delete(paused);
      this.#giveBack(queue);
    }, pause.pauseMs);
    const paused = { ...pause, queue, timer };
    this.#paused.add(paused);
    timer.unref();
  }

  /** Whether the run ends so that another release can continue. */
  get #leaves(): boolean {
    return this.#source.end?.kind === 'waiting';
  }

  /**
   * Models whose attempts do not count, because another database is out of reach, are set aside: their events wait in the
   * parking table, from which they are resumed.
   *
   * @param isFull whether the event that holds back all models is given up
   */
  #makeRoom(isFull: boolean): void {
    for (const paused of this.#paused) {
      const { queue, error, isElsewhere, timer } = paused;
      const [entry] = queue.entries;
      if (entry === undefined) continue;
      const isSetAside = isElsewhere === true && this.#parked.models.size < MAXIMUM_ASIDE;
      const isGivenUp = isFull && entry.passed === 0 && entry.attempts > 0 && this.#window.isOldest(entry);
      if (!isSetAside && !isGivenUp) continue;
      time.clearTimeout(timer);
      this.#paused.delete(paused);
      if (isSetAside) for (const each of queue.entries.splice(0)) this.#parked.park(each);
      else this.#giveUp(queue, entry, error);
      this.#giveBack(queue);
    }
  }

  #handledFirst({ entries }: ModelQueue, count: number): void {
    for (const entry of entries.splice(0, count)) {
      this.#handled.add(entry.event);
      this.#settled(entry);
      countAge(this.#options, entry.event);
    }
  }

  /**
   * Attempts the first events of a model. Returns how many were handled: none if the attempt could not be counted and was
   * not made. Returns a promise only if the attempt is asynchronous.
   */
  #attempt({ entries }: ModelQueue): number | Promise<number> {
    const { attempts } = this.#options;
    const [entry] = entries;
    if (entry === undefined) return 0;
    if (this.#counted.isCareful) return this.#attemptCarefully(entry);
    const most = Math.max(1, freshAtOnce(entries, attempts.longestRun ?? 1));
    const events = entries.slice(0, most).map(({ event }) => event);
    const work = most > 1 ? attempts.handleRun?.(events, this.#context) : this.#handle(entry);
    return work === undefined ? most : work.then(() => most);
  }

  /** Makes an attempt that may crash the process. */
  async #attemptCarefully(entry: WindowEntry): Promise<number> {
    const attempted = await this.#counted.attempt(entry.event.id, entry, async () => {
      await this.#handle(entry);
      return 1;
    });
    return attempted ?? 0;
  }

  #handle({ event, attempts }: WindowEntry): Promise<void> | void {
    const attempt = { number: attempts + 1, transaction: undefined };
    return this.#options.attempts.handle(event, attempt, this.#context);
  }

  #settled(entry: WindowEntry): void {
    this.#window.done(entry);
    this.#counted.settled(entry.event.id);
  }

  #giveBack(queue: ModelQueue): void {
    this.#window.giveBack(queue);
    this.#dispatch();
    this.#loop.wakeUp.notify();
  }

  /**
   * Handles a failed attempt at the first event. Returns the pause before the next one; undefined after the last one,
   * when the model has been parked, and if another release must continue.
   */
  #failed(queue: ModelQueue, error: unknown): Pause | undefined {
    const [entry] = queue.entries;
    if (entry === undefined) return undefined;
    const { id } = entry.event;
    const verdict = this.#counted.failed(error, id, entry);
    if (verdict.kind === 'leave') {
      this.#left += queue.entries.splice(0).length;
      this.#source.leave(verdict.reason);
      return undefined;
    }
    if (verdict.kind === 'pass')
      return { pauseMs: verdict.pauseMs, error, isElsewhere: verdict.cause === 'elsewhere' };
    if (verdict.kind === 'retry') return { pauseMs: verdict.pauseMs, error };
    if (verdict.kind === 'halt') {
      const { message } = failureOf(error, entry.attempts);
      this.#halt ??= { kind: 'halted', reason: `${message} (event ${id})` };
      void this.#loop.stop(HALT_GRACE_MS);
      return { pauseMs: FAILURE_PAUSE_MS };
    }
    this.#giveUp(queue, entry, error);
    return undefined;
  }

  #giveUp(queue: ModelQueue, entry: WindowEntry, error: unknown): void {
    const failure = failureOf(error, entry.attempts);
    this.#parked.report(entry.event, failure);
    for (const each of queue.entries.splice(0)) this.#parked.park(each, each === entry ? failure : undefined);
  }

  async #park(): Promise<void> {
    if (this.#parked.pending === 0 || !this.#maySave) return;
    const written = await this.#parked.write();
    // Refused: the run no longer holds its lease.
    if (written === undefined) await this.#checkpoint.learn();
    for (const entry of written ?? []) this.#settled(entry);
  }

  /** Whether the state in memory still matches the database. */
  get #maySave(): boolean {
    return this.#loop.state === 'working' || this.#loop.state === 'stopped';
  }

  /** Removes finished events from the window: the checkpoint may pass them. */
  #advance(): void {
    this.#unsaved = this.#window.advance() ?? this.#unsaved;
  }

  /** Saves the checkpoint if it is due. @param now save even if it is not due */
  async #save(now = false): Promise<void> {
    const nowMs = time.nowMs();
    const to = this.#unsaved;
    if (to === undefined || !this.#maySave || (!now && nowMs - this.#savedMs < CHECKPOINT_MS)) return;
    this.#savedMs = nowMs;
    if (!(await this.#checkpoint.moveTo(to)) && !(await this.#checkpoint.learn())) return;
    if (this.#unsaved !== undefined && isSamePlace(this.#unsaved, this.#checkpoint.saved))
      this.#unsaved = undefined;
  }
}
