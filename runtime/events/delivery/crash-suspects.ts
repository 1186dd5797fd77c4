import { time } from '../../concurrency/time.js';
import type { Attempts } from './attempts.js';
import type { AttemptNote, ConsumerStore, InheritedAttempts, LeasedConsumer } from './consumer-store.js';
import type { HeldLease } from './held-lease.js';

/** Events that the holder of a lease that was lost may have had in memory: one of them may have killed it. */
const WATCHED_EVENTS = 5_000;
/** Maximum number of events with stored failures; attempts of further events restart at zero after a take-over. */
const MOST_NOTES = 100;

/** What an event is parked with that has killed one process after the other. */
export class HandlerDied extends Error {
  readonly code = 'FW_HANDLER_DIED';

  constructor(attempts: number) {
    super(`Each of ${attempts} attempts ended with the process that made it`);
    this.name = 'HandlerDied';
  }
}

/**
 * The failure of an event that a process has died of, if that was its last attempt; undefined if some are left. Only an
 * event that was alone when the process died is given up for it.
 *
 * @param made attempts so far, the one that was died of included
 */
export function diedOf(
  attempts: Attempts,
  suspects: CrashSuspects,
  eventId: string,
  made: number,
): HandlerDied | undefined {
  if (!suspects.diedAlone(eventId)) return undefined;
  const died = new HandlerDied(made);
  return attempts.isLast(made, died) ? died : undefined;
}

/**
 * Counts attempts where the process may die of them, and nowhere else: in the normal course no statement is spent on
 * it, nor when a process vanishes that had come further. After a lease was taken over from a holder that vanished where
 * it had begun, the events that it may have been at are watched: attempts are noted before they begin, many with one
 * statement. Those that were under way when a process vanished are handled one at a time from then on, so that what
 * dies with them is not counted against their neighbours. Attempts that have failed are noted as well, so that they
 * count on after a take-over; failures that pass are not attempts.
 */
export class CrashSuspects {
  readonly #consumers: ConsumerStore;
  readonly #lease: HeldLease;
  /** Attempts as they are to be noted, by event. */
  readonly #notes: Map<string, AttemptNote>;
  /** Attempts that earlier holders have noted. */
  readonly #inherited: Map<string, InheritedAttempts>;
  readonly #watched = new Set<string>();
  /** Events that are still to be watched, whichever they are. */
  #left: number;
  #atWork = 0;
  #alone = false;
  /** How many wait to go alone. */
  #aloneNext = 0;
  #waiting: (() => void)[] = [];
  #writing: Promise<unknown> = Promise.resolve();
  #next: Promise<boolean> | undefined;

  constructor(consumers: ConsumerStore, consumer: LeasedConsumer, lease: HeldLease) {
    this.#consumers = consumers;
    this.#lease = lease;
    this.#inherited = new Map(Object.entries(consumer.suspects));
    this.#notes = new Map(
      [...this.#inherited].map(([id, { attempts }]) => [id, { failed: attempts, open: false }]),
    );
    this.#left = consumer.stuck ? WATCHED_EVENTS : 0;
  }

  /** To be called for each event that is read. */
  read(eventId: string): void {
    if (this.#left <= 0 && this.#inherited.size === 0) return;
    if (this.#left > 0 || this.died(eventId)) this.#watched.add(eventId);
    this.#left -= 1;
  }

  /** The log has been read to its end: later events have never been attempted. */
  caughtUp(): void {
    this.#left = 0;
  }

  /** Attempts of earlier holders. */
  attemptsOf(eventId: string): number {
    return this.#inherited.get(eventId)?.attempts ?? 0;
  }

  /** The holder before has vanished with an attempt at it, and with nothing else that could be the cause. */
  diedAlone(eventId: string): boolean {
    return this.#inherited.get(eventId)?.alone === true;
  }

  /** The holder before has vanished with an attempt at it. */
  died(eventId: string): boolean {
    return this.#inherited.get(eventId)?.died === true;
  }

  /** Its attempts are made by `attempt`. */
  watches(eventId: string): boolean {
    return this.#watched.size > 0 && this.#watched.has(eventId);
  }

  /**
   * Makes an attempt that the process may die of.
   *
   * @param number of the attempt, from 1
   * @returns false if it could not be noted, and was not made
   */
  async attempt(eventId: string, number: number, work: () => Promise<void> | void): Promise<boolean> {
    if (!(await this.#enter(eventId, number))) return false;
    try {
      await work();
      return true;
    } finally {
      this.#leave();
    }
  }

  /**
   * Notes that an attempt has failed, so that those that count do so after a take-over as well.
   *
   * @param attempts that have failed and count, this one included if it does
   */
  failed(eventId: string, attempts: number): void {
    const note = this.#notes.get(eventId);
    if (note === undefined ? attempts === 0 : note.failed === attempts && !note.open) return;
    if (note === undefined && this.#notes.size >= MOST_NOTES) return;
    if (attempts === 0) this.#notes.delete(eventId);
    else this.#notes.set(eventId, { failed: attempts, open: false });
    this.#write().catch(() => {});
  }

  /** The event is settled. If it is handled again on request, its attempts restart at zero. */
  settled(eventId: string): void {
    if (this.#notes.size === 0) return;
    this.#watched.delete(eventId);
    this.#inherited.delete(eventId);
    // What is left is noted with the next attempt; the last one is worth a statement of its own.
    if (this.#notes.delete(eventId) && this.#notes.size === 0) this.#write().catch(() => {});
  }

  /** Waits for what is being noted. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  /** Notes an attempt before it begins, when it is its turn. False if it cannot be noted, and must not begin. */
  async #enter(eventId: string, number: number): Promise<boolean> {
    const alone = this.died(eventId);
    if (alone) this.#aloneNext += 1;
    // Those that go alone go first: what they hold up is the checkpoint.
    while (this.#alone || (alone ? this.#atWork > 0 : this.#aloneNext > 0)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (alone) this.#aloneNext -= 1;
    this.#atWork += 1;
    this.#alone = alone;
    this.#notes.set(eventId, { failed: number - 1, open: true, alone });
    const noted = await this.#write().catch(() => false);
    if (!noted) this.#leave();
    return noted;
  }

  /** An attempt that was entered has ended, whether well or not. */
  #leave(): void {
    this.#atWork -= 1;
    this.#alone = false;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #note(): Promise<boolean> {
    const { lease, durationMs } = this.#lease;
    const askedMs = time.nowMs();
    const noted = await this.#consumers.noteSuspects(lease, Object.fromEntries(this.#notes), durationMs);
    if (noted) this.#lease.renewed(askedMs);
    return noted;
  }

  /** Calls during a statement share the next one. */
  #write(): Promise<boolean> {
    if (this.#next === undefined) {
      const next = this.#writing.then(() => {
        this.#next = undefined;
        return this.#note();
      });
      this.#next = next;
      this.#writing = next.catch(() => {});
    }
    return this.#next;
  }
}
