import { time } from '../../concurrency/time.js';
import { DatabaseError, EventEpochError, messageOf } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { Transaction, TransactionManager } from '../../sharding/transaction-manager.js';
import type { ParkedLetter } from '../dead-letters/dead-letter-store.js';
import { type LogCursor, type LoggedEvent, modelKeyOf } from '../log/event-record.js';
import type { LogPage } from '../log/log-reader.js';
import { Signal } from '../log/signal.js';
import type { RunContext } from './attempts.js';
import { CrashSuspects, diedOf } from './crash-suspects.js';
import { failureOf } from './handler-attempts.js';
import type { ConsumerRunOptions, Run, RunEnd } from './run.js';

/** Most events in one transaction: it holds the snapshot horizon while it runs. */
const GROUP = 200;
/** A group is committed after this time even if it is not full. */
const GROUP_MS = 50;
const PENDING_POLL_MS = 5;
const FAILURE_PAUSE_MS = 250;
const PARKED_REFRESH_MS = 1_000;
/** A handler that ignores the signal for this time is abandoned together with its transaction. */
const GIVE_UP_MS = 250;

/** The lease was lost, or the checkpoint is elsewhere: the transaction must not commit. */
class Superseded extends Error {}

/** A parked event was taken out by a transaction of which no answer came: this one must not commit. */
class SettledBefore extends Error {}

/** A failure of a handler, as opposed to one of the database. */
class HandlerFailed extends Error {
  readonly event: LoggedEvent;
  readonly error: unknown;

  constructor(event: LoggedEvent, error: unknown) {
    super('handler failed');
    this.event = event;
    this.error = error;
  }
}

/**
 * Runs a handler whose effects are part of the transaction that moves its checkpoint: exactly once. Events are handled
 * one after the other in log order, in groups that commit together; when one fails, its group is rolled back and the
 * events before it are committed without it.
 */
export class TransactionalRun implements Run {
  readonly ended: Promise<RunEnd>;
  readonly #options: ConsumerRunOptions;
  readonly #transactions: TransactionManager;
  readonly #signal = new Signal();
  readonly #abort = new AbortController();
  readonly #context: RunContext;
  readonly #suspects: CrashSuspects;
  readonly #parked = new Map<string, boolean>();
  #parkedMs = Number.NEGATIVE_INFINITY;
  #cursor: LogCursor;
  /** Where the checkpoint is: `#cursor` runs ahead of it where the log holds nothing for this handler. */
  #saved: LogCursor;
  /** Of the event at the head. */
  #failures = 0;
  /** Its failures in a row that do not count as attempts. */
  #passed = 0;
  /** One event per transaction, until the one is found that spoils a group. */
  #alone = false;
  #stopping = false;
  #end: RunEnd | undefined;
  #giveUp: (end: RunEnd) => void = () => {};

  constructor(options: ConsumerRunOptions, transactions: TransactionManager) {
    this.#options = options;
    this.#transactions = transactions;
    this.#suspects = new CrashSuspects(options.consumers, options.consumer, options.lease);
    this.#cursor = options.consumer.cursor;
    this.#saved = this.#cursor;
    this.#context = { ...options.context, signal: this.#abort.signal };
    const givenUp = new Promise<RunEnd>((resolve) => {
      this.#giveUp = resolve;
    });
    this.ended = Promise.race([this.#run(), givenUp]);
  }

  wake(): void {
    this.#signal.notify();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#signal.notify();
    const timer = time.setTimeout(() => {
      this.#abort.abort();
      time.setTimeout(() => this.#giveUp({ kind: 'lost' }), GIVE_UP_MS).unref();
    }, graceMs);
    await this.ended;
    time.clearTimeout(timer);
  }

  supersede(): void {
    this.#end ??= { kind: 'superseded' };
    this.#signal.notify();
  }

  /** Wake-ups do not shorten it; the end of the run does. */
  async #pause(milliseconds: number): Promise<void> {
    const untilMs = time.nowMs() + milliseconds;
    for (let leftMs = milliseconds; leftMs > 0 && !this.#stopping; leftMs = untilMs - time.nowMs()) {
      await this.#signal.wait(leftMs);
    }
  }

  async #run(): Promise<RunEnd> {
    while (this.#end === undefined) {
      try {
        if (this.#stopping) this.#end = { kind: 'stopped' };
        else if (!this.#options.lease.valid) this.#end = { kind: 'lost' };
        else await this.#step();
      } catch (error) {
        await this.#recover(error);
      }
    }
    this.#abort.abort();
    await this.#suspects.idle();
    return this.#end;
  }

  async #step(): Promise<void> {
    await this.#refreshParked();
    const page = await this.#options.reader.read(this.#options.selection, this.#cursor, GROUP);
    if (page.serverRun !== this.#options.consumer.serverRun) {
      this.supersede();
      return;
    }
    for (const event of page.events) this.#suspects.read(event.id);
    if (!page.more && !page.pending) this.#suspects.caughtUp();
    await this.#handlePage(page);
    if (this.#end !== undefined || page.more) return;
    if (page.ended) {
      if (this.#parked.size === 0) this.#end = { kind: 'finished' };
      else await this.#signal.wait(PARKED_REFRESH_MS);
    } else await this.#signal.wait(page.pending ? PENDING_POLL_MS : this.#options.pollMs());
  }

  async #handlePage(page: LogPage): Promise<void> {
    const { attempts } = this.#options;
    const tooNew = page.events.findIndex((event) => attempts.isTooNew(event));
    let rest = tooNew < 0 ? page.events : page.events.slice(0, tooNew);
    while (rest.length > 0 && this.#end === undefined && !this.#stopping) {
      const handled = await this.#handleGroup(rest);
      rest = rest.slice(handled);
      if (handled === 0) return;
    }
    const next = page.events[tooNew];
    if (next !== undefined && rest.length === 0) {
      const reason = `${next.eventType} version ${next.eventVersion} is newer than this process knows`;
      this.#end = { kind: 'waiting', reason };
    } else if (rest.length === 0 && page.events.length === 0 && !isSamePlace(page.next, this.#saved))
      await this.#skipTo(page.next);
    else if (rest.length === 0 && this.#end === undefined) this.#cursor = page.next;
  }

  /** Nothing of interest up to here. */
  async #skipTo(next: LogCursor): Promise<void> {
    await this.#moveTo(next);
    this.#arrived(next);
  }

  /** Moves the checkpoint from where it was last known to be. @throws Superseded */
  async #moveTo(to: LogCursor, transaction?: Transaction): Promise<void> {
    const { consumers, consumer, lease } = this.#options;
    const move = { from: this.#saved, to };
    if (!(await consumers.checkpoint(consumer.lease, move, lease.durationMs, transaction)))
      throw new Superseded();
  }

  /** The checkpoint is there. */
  #arrived(cursor: LogCursor): void {
    this.#cursor = cursor;
    this.#saved = cursor;
  }

  /** How many events of the group have been committed. */
  async #handleGroup(events: readonly LoggedEvent[]): Promise<number> {
    const [head] = events;
    if (head !== undefined) this.#failures = Math.max(this.#failures, this.#suspects.attemptsOf(head.id));
    if (head !== undefined && this.#suspects.watches(head.id)) return this.#handleSuspect(head);
    const watched = events.findIndex((event) => this.#suspects.watches(event.id));
    const group = events.slice(
      0,
      this.#failures > 0 || this.#alone ? 1 : watched < 0 ? events.length : watched,
    );
    try {
      return await this.#commitGroup(group);
    } catch (error) {
      if (error instanceof DatabaseError && head !== undefined) {
        // The handler swallowed an error, and the server rolled back instead of committing.
        if (group.length === 1) return this.#headFailed(head, error);
        this.#alone = true;
        return 0;
      }
      if (!(error instanceof HandlerFailed)) throw error;
      const before = events.indexOf(error.event);
      if (before > 0) return this.#commitGroup(events.slice(0, before));
      return this.#headFailed(error.event, error.error);
    }
  }

  /** One event in a transaction of its own, because the process may die of it. */
  async #handleSuspect(event: LoggedEvent): Promise<number> {
    const { id } = event;
    const died = diedOf(this.#options.attempts, this.#suspects, id, this.#failures);
    if (died !== undefined) {
      this.#failures -= 1;
      return this.#headFailed(event, died);
    }
    let handled = 0;
    try {
      const commit = async (): Promise<void> => {
        handled = await this.#commitGroup([event]);
      };
      const made = await this.#suspects.attempt(id, this.#failures + 1, commit);
      if (!made) await this.#pause(FAILURE_PAUSE_MS);
      return handled;
    } catch (error) {
      if (error instanceof DatabaseError) return this.#headFailed(event, error);
      if (!(error instanceof HandlerFailed)) throw error;
      return this.#headFailed(event, error.error);
    }
  }

  async #commitGroup(events: readonly LoggedEvent[]): Promise<number> {
    const { lease } = this.#options;
    let handled = 0;
    const askedMs = time.nowMs();
    const until = askedMs + GROUP_MS;
    const cursor = await this.#transactions.transaction(async (transaction) => {
      let last = this.#saved;
      for (const event of events) {
        if (handled > 0 && (time.nowMs() > until || this.#stopping)) break;
        await this.#handle(event, this.#failures + 1, transaction);
        handled += 1;
        last = event.cursor;
      }
      await this.#moveTo(last, transaction);
      return last;
    });
    lease.renewed(askedMs);
    this.#arrived(cursor);
    this.#failures = 0;
    for (const { id } of events.slice(0, handled)) this.#suspects.settled(id);
    return handled;
  }

  async #handle(event: LoggedEvent, number: number, transaction: Transaction): Promise<void> {
    const { attempts, letters, consumer } = this.#options;
    if (this.#parked.has(modelKeyOf(event))) {
      if (!(await letters.park(consumer.lease, [{ event, failure: undefined }], transaction)))
        throw new Superseded();
      return;
    }
    try {
      await attempts.handle(event, { number, transaction }, this.#context);
    } catch (error) {
      if (error instanceof DriverFailure && error.phase !== 'answered') throw error;
      throw new HandlerFailed(event, error);
    }
  }

  async #headFailed(event: LoggedEvent, error: unknown): Promise<number> {
    const { attempts, letters, consumer, warn } = this.#options;
    if (attempts.isPassing(error)) {
      this.#passed += 1;
      this.#suspects.failed(event.id, this.#failures);
      await this.#pause(attempts.passingPauseMs(this.#passed));
      return 0;
    }
    this.#passed = 0;
    this.#failures += 1;
    if (!attempts.isLast(this.#failures, error)) {
      this.#suspects.failed(event.id, this.#failures);
      await this.#pause(attempts.pauseMs(this.#failures));
      return 0;
    }
    const failure = failureOf(error, this.#failures);
    await this.#transactions.transaction(async (transaction) => {
      if (!(await letters.park(consumer.lease, [{ event, failure }], transaction))) throw new Superseded();
      await this.#moveTo(event.cursor, transaction);
    });
    this.#suspects.settled(event.id);
    warn(
      `${consumer.lease.name} cannot handle event ${event.id}: ${failure.message}; ${modelKeyOf(event)} is parked`,
    );
    this.#parked.set(modelKeyOf(event), true);
    this.#arrived(event.cursor);
    this.#failures = 0;
    this.#alone = false;
    return 1;
  }

  async #refreshParked(): Promise<void> {
    const first = this.#parkedMs === Number.NEGATIVE_INFINITY;
    if (!first && (this.#parked.size === 0 || time.nowMs() - this.#parkedMs < PARKED_REFRESH_MS)) return;
    const { letters, consumer } = this.#options;
    const found = await letters.parkedModels(consumer.lease.name);
    this.#parkedMs = time.nowMs();
    this.#parked.clear();
    for (const { key } of found) this.#parked.set(key, true);
    for (const { key, retry } of found) if (retry) await this.#resume(key);
  }

  /** In turn with everything else of this handler, so nothing is parked behind meanwhile. */
  async #resume(key: string): Promise<void> {
    const { letters, consumer } = this.#options;
    const slash = key.indexOf('/');
    const model = { modelName: key.slice(0, slash), modelId: key.slice(slash + 1) };
    for (;;) {
      const parked = await letters.of(consumer.lease.name, model, GROUP);
      if (parked.length === 0) {
        this.#parked.delete(key);
        return;
      }
      for (const letter of parked) if (this.#stopping || !(await this.#retry(letter))) return;
    }
  }

  async #retry(letter: ParkedLetter): Promise<boolean> {
    const { attempts, letters, consumer } = this.#options;
    const { event } = letter;
    if (attempts.isTooNew(event)) return false;
    const before = this.#suspects.attemptsOf(event.id);
    let number = before + 1;
    for (let passed = 0; !this.#stopping; ) {
      try {
        const died = number === before + 1 ? diedOf(attempts, this.#suspects, event.id, before) : undefined;
        if (died !== undefined) throw died;
        const handle = (): Promise<void> =>
          this.#transactions.transaction(async (transaction) => {
            await attempts.handle(event, { number, transaction }, this.#context);
            const settled = await letters.settle(consumer.lease, event.id, transaction);
            if (settled === 'lost') throw new Superseded();
            if (settled === 'gone') throw new SettledBefore();
          });
        if (!(await this.#suspects.attempt(event.id, number, handle))) return false;
        this.#suspects.settled(event.id);
        return true;
      } catch (error) {
        if (error instanceof SettledBefore) {
          this.#suspects.settled(event.id);
          return true;
        }
        if (error instanceof Superseded || error instanceof DriverFailure) throw error;
        if (attempts.isLast(number, error)) {
          this.#suspects.settled(event.id);
          await letters.fail(consumer.lease, letter, failureOf(error, number));
          return false;
        }
        const passing = attempts.isPassing(error);
        passed = passing ? passed + 1 : 0;
        this.#suspects.failed(event.id, passing ? number - 1 : number);
        await this.#pause(passing ? attempts.passingPauseMs(passed) : attempts.pauseMs(number));
        if (!passing) number += 1;
      }
    }
    return false;
  }

  /** After a commit of unknown outcome the checkpoint reveals it: checkpoint and effects commit together. */
  async #recover(error: unknown): Promise<void> {
    const { consumer, consumers, warn } = this.#options;
    if (error instanceof EventEpochError) this.#end = { kind: 'waiting', reason: error.message };
    else if (error instanceof DriverFailure && error.reason === 'closed') this.#end = { kind: 'lost' };
    if (this.#end !== undefined) return;
    if (!(error instanceof Superseded)) {
      warn(`${consumer.lease.name}: ${messageOf(error)}`);
      await this.#signal.wait(FAILURE_PAUSE_MS);
    }
    try {
      const standing = await consumers.standing(consumer.lease);
      if (standing === undefined) this.#end = { kind: 'lost' };
      else if (standing.superseded) this.supersede();
      else this.#arrived(standing.cursor);
    } catch {
      // Still out of reach; the next step fails again and comes back here.
    }
  }
}

function isSamePlace(one: LogCursor, other: LogCursor): boolean {
  const { epoch, transactionId, position } = one;
  return epoch === other.epoch && transactionId === other.transactionId && position === other.position;
}
