import { time } from '../../concurrency/time.js';
import { DatabaseError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { Transaction, TransactionManager } from '../../sharding/transaction-manager.js';
import type { RunContext } from '../log/event-envelope.js';
import { isBehind, isSamePlace, type LogCursor, type LoggedEvent, modelKeyOf } from '../log/event-record.js';
import type { FailureCount } from './attempts.js';
import { Checkpoint } from './checkpoint.js';
import { type ConsumerRunOptions, countAge } from './consumer-run-options.js';
import { CountedAttempts, HandlerDied } from './counted-attempts.js';
import { failureOf } from './handler-attempts.js';
import { FAILURE_PAUSE_MS, type LeasedLoop, type LeasedWork } from './leased-loop.js';
import { LogSource } from './log-source.js';
import { ParkedModels } from './parked-models.js';
import type { ParkedLetter, Settlement } from './parking-store.js';
import { RebuildRefused } from './rebuild.js';

/** Maximum events per transaction: a running transaction holds back the snapshot horizon. */
const GROUP = 200;
/** A group is committed after this time even if it is not full. */
const GROUP_MS = 50;
/**
 * On a slow database, a group takes this many times as long as the beginning of its transaction, up to `LONGEST_GROUP_MS`:
 * else most of the time would go into beginning and committing transactions of a single event.
 */
const GROUP_SHARE = 4;
const LONGEST_GROUP_MS = 1_000;
/** How often the end of a replay is checked while models are parked, in milliseconds. */
const PARKED_REFRESH_MS = 1_000;
/** A handler that ignores the signal for this time is abandoned with its transaction, in milliseconds. */
const GIVE_UP_MS = 250;

/** The lease was lost, the checkpoint has moved, or a parked event is gone: the transaction must not commit. */
class Superseded extends Error {}

/** A failure of a handler, not of the database. */
class HandlerFailed extends Error {
  readonly event: LoggedEvent;
  readonly error: unknown;

  constructor(event: LoggedEvent, error: unknown) {
    super('handler failed');
    this.event = event;
    this.error = error;
  }
}

/** The server's state after the failure of a statement, in which a transaction accepts no other one. */
const ABORTED = '25P02';
const SWALLOWED =
  'a statement of the handler failed, and the error was swallowed: rethrow it, or use a savepoint';

/** Whether the handler swallowed an error: the server refuses the next statement, or rolls back instead of committing. */
function hasSwallowed(error: unknown): boolean {
  const cause = error instanceof HandlerFailed ? error.error : error;
  return error instanceof DatabaseError || (cause instanceof DriverFailure && cause.sqlState === ABORTED);
}

/**
 * Runs a handler whose effects are part of the transaction that moves its checkpoint: exactly once. Events are handled
 * one after the other in log order, in groups that commit together; when one fails, its group is rolled back and the
 * events before it are committed without it.
 */
export class TransactionalRun implements LeasedWork {
  readonly giveUpMs: number = GIVE_UP_MS;
  readonly #options: ConsumerRunOptions;
  readonly #loop: LeasedLoop;
  readonly #transactions: TransactionManager;
  readonly #context: RunContext;
  readonly #counted: CountedAttempts;
  readonly #parked: ParkedModels;
  readonly #source: LogSource;
  /** The source runs ahead of it while the log holds no event for this handler. */
  readonly #checkpoint: Checkpoint;
  /** Whether the checkpoint must be read: a round has failed, or a commit may have had no effect. */
  #inDoubt = false;
  /** Failures of the first event. */
  readonly #count: FailureCount = { attempts: 0, passed: 0 };
  /** How many of the next events have a transaction of their own, to find the one that fails their group. */
  #alone = 0;

  constructor(options: ConsumerRunOptions, transactions: TransactionManager, loop: LeasedLoop) {
    this.#options = options;
    this.#transactions = transactions;
    this.#loop = loop;
    this.#checkpoint = new Checkpoint(options, loop);
    this.#context = { ...options.context, signal: loop.signal };
    this.#counted = new CountedAttempts(options, loop);
    this.#source = new LogSource(options, loop, this.#counted);
    this.#parked = new ParkedModels(options, {
      loop,
      counted: this.#counted,
      handle: (letter, number) => this.#settle(letter, number),
      leave: (reason) => loop.finish({ kind: 'waiting', reason }),
      inTurn: true,
    });
  }

  async round(): Promise<void> {
    if (this.#inDoubt) {
      // Checkpoint and effects commit together, so it shows the outcome of the last commit.
      if (!(await this.#checkpoint.learn())) return;
      this.#source.rewind(this.#checkpoint.saved);
    }
    this.#inDoubt = true;
    try {
      await this.#step();
      this.#inDoubt = false;
    } catch (error) {
      if (error instanceof RebuildRefused)
        return this.#loop.finish({ kind: 'halted', reason: error.message });
      if (!(error instanceof Superseded)) throw error;
    }
  }

  woken(): void {
    this.#source.woken();
  }

  async close(): Promise<void> {
    await this.#counted.idle();
  }

  async #step(): Promise<void> {
    const loop = this.#loop;
    await this.#parked.refresh();
    await this.#counted.reportObstacle();
    let events = await this.#source.read(GROUP, true);
    const isQuiet = events.length === 0;
    while (events.length > 0 && loop.state === 'working') {
      const handled = await this.#handleGroup(events);
      if (handled === 0) break;
      events = events.slice(handled);
    }
    if (events.length > 0) return this.#source.rewind(this.#checkpoint.saved);
    if (loop.state !== 'working') return;
    const { cursor, end, quietMs } = this.#source;
    if (isQuiet && !isSamePlace(cursor, this.#checkpoint.saved)) await this.#moveTo(cursor);
    if (isQuiet && end === undefined && this.#parked.models.size === 0 && (await this.#switchRebuilt()))
      return;
    if (end !== undefined && !(end.kind === 'finished' && this.#parked.models.size > 0)) loop.finish(end);
    else if (end !== undefined) {
      this.#source.rewind(cursor);
      await loop.wakeUp.wait(PARKED_REFRESH_MS);
    } else if (quietMs > 0) await loop.wakeUp.wait(quietMs);
  }

  /** @throws Superseded */
  async #moveTo(to: LogCursor, transaction?: Transaction): Promise<void> {
    if (!(await this.#checkpoint.moveTo(to, transaction))) throw new Superseded();
  }

  /** Handles a group of events. Returns how many have been committed. */
  async #handleGroup(events: readonly LoggedEvent[]): Promise<number> {
    const [head] = events;
    if (head === undefined) return 0;
    const { isCareful } = this.#counted;
    this.#count.attempts = Math.max(this.#count.attempts, this.#counted.of(head.id));
    const group = isCareful || this.#alone > 0 || this.#count.attempts > 0 ? [head] : events;
    try {
      return isCareful ? await this.#commitCarefully(head) : await this.#commitGroup(group);
    } catch (error) {
      if (error instanceof HandlerDied) return this.#headFailed(head, error);
      if (hasSwallowed(error)) {
        if (group.length === 1) return this.#headFailed(head, new DatabaseError(SWALLOWED, { cause: error }));
        this.#alone = group.length;
        return 0;
      }
      if (!(error instanceof HandlerFailed)) throw error;
      const before = events.indexOf(error.event);
      if (before > 0) return this.#handleGroup(events.slice(0, before));
      return this.#headFailed(error.event, error.error);
    }
  }

  /** Handles one event in its own transaction, because it may crash the process. */
  async #commitCarefully(event: LoggedEvent): Promise<number> {
    const handled = await this.#counted.attempt(event.id, this.#count, () => this.#commitGroup([event]));
    if (handled === undefined) await this.#loop.pause(FAILURE_PAUSE_MS);
    return handled ?? 0;
  }

  async #commitGroup(events: readonly LoggedEvent[]): Promise<number> {
    let handled = 0;
    const askedMs = time.nowMs();
    const cursor = await this.#transactions.transaction(async (transaction) => {
      let last = this.#checkpoint.saved;
      await this.#inTables(transaction, async () => {
        const begunMs = time.nowMs();
        const until =
          begunMs + Math.min(Math.max(GROUP_MS, GROUP_SHARE * (begunMs - askedMs)), LONGEST_GROUP_MS);
        for (const event of events) {
          if (handled > 0 && (time.nowMs() > until || this.#loop.state !== 'working')) break;
          await this.#handle(event, this.#count.attempts + 1, transaction);
          handled += 1;
          last = event.cursor;
        }
      });
      await this.#moveTo(last, transaction);
      return last;
    });
    this.#loop.lease.renewed(askedMs);
    this.#checkpoint.saved = cursor;
    this.#begin(handled);
    for (const event of events.slice(0, handled)) {
      this.#counted.settled(event.id);
      countAge(this.#options, event);
    }
    return handled;
  }

  /**
   * Ends a rebuild that has caught up. The events that the live handler has handled since are handled in the same
   * transaction, in which the live one waits. False if there is no rebuild, there are too many such events, or one fails.
   */
  async #switchRebuilt(): Promise<boolean> {
    const { rebuild, consumer, reader, selection, attempts } = this.#options;
    if (rebuild === undefined) return false;
    const handler = consumer.lease.name.split('#', 1)[0] ?? '';
    const work = async (transaction: Transaction): Promise<boolean> => {
      const live = await rebuild.lockLive(transaction, handler);
      if (live === undefined) return false;
      const isLate = isBehind(this.#checkpoint.saved, live);
      if (isLate) {
        const page = await reader.read(
          { ...selection, until: live },
          this.#checkpoint.saved,
          GROUP,
          transaction,
        );
        // The next round leaves an event of a newer version to a newer process.
        if (!page.ended || page.events.some((event) => attempts.isTooNew(event))) return false;
        await rebuild.within(transaction, async () => {
          for (const event of page.events) await this.#handle(event, 1, transaction);
        });
      }
      const cursor = isLate ? live : this.#checkpoint.saved;
      await this.#moveTo(cursor, transaction);
      await rebuild.switchTo(transaction, cursor, { lease: consumer.lease, handler });
      return true;
    };
    const isDone = await this.#transactions.transaction(work).catch((error) => {
      // The next round attempts the event as usual.
      if (error instanceof HandlerFailed) return false;
      throw error;
    });
    if (isDone) this.#loop.finish({ kind: 'finished' });
    return isDone;
  }

  /** Runs work on the tables of the rebuild, if there is one. */
  #inTables(transaction: Transaction, work: () => Promise<void>): Promise<void> {
    return this.#options.rebuild?.within(transaction, work) ?? work();
  }

  async #handle(event: LoggedEvent, number: number, transaction: Transaction): Promise<void> {
    const { attempts, letters, consumer } = this.#options;
    if (this.#parked.models.has(modelKeyOf(event))) {
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
    const { letters, consumer } = this.#options;
    // An attempt that the end of the run interrupted does not count.
    if (this.#loop.signal.aborted) return 0;
    const verdict = this.#counted.failed(error, event.id, this.#count);
    if ('pauseMs' in verdict) {
      await this.#counted.reportObstacle();
      await this.#loop.pause(verdict.pauseMs);
      return 0;
    }
    const failure = failureOf(error, this.#count.attempts);
    await this.#transactions.transaction(async (transaction) => {
      if (!(await letters.park(consumer.lease, [{ event, failure }], transaction))) throw new Superseded();
      await this.#moveTo(event.cursor, transaction);
    });
    this.#counted.settled(event.id);
    this.#parked.report(event, failure);
    this.#parked.add(modelKeyOf(event));
    this.#checkpoint.saved = event.cursor;
    this.#begin(1);
    return 1;
  }

  /** Called when events are done: their failures do not count for the next one. */
  #begin(done: number): void {
    this.#count.attempts = 0;
    this.#count.passed = 0;
    this.#alone = Math.max(0, this.#alone - done);
  }

  /** Handles a parked event and deletes it, in one transaction. */
  async #settle({ event }: ParkedLetter, number: number): Promise<Settlement> {
    const { attempts, letters, consumer } = this.#options;
    let settlement: Settlement = 'lost';
    const work = async (transaction: Transaction): Promise<void> => {
      await this.#inTables(transaction, async () =>
        attempts.handle(event, { number, transaction }, this.#context),
      );
      settlement = await letters.settle(consumer.lease, event.id, transaction);
      if (settlement !== 'settled') throw new Superseded();
    };
    await this.#transactions.transaction(work).catch((error: unknown) => {
      if (!(error instanceof Superseded)) throw error;
    });
    return settlement;
  }
}
