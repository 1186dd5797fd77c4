import { time } from '../../concurrency/time.js';
import type { Attempts } from './attempts.js';
import type { AttemptNote, ConsumerStore, InheritedAttempts, LeasedConsumer } from './consumer-store.js';
import type { HeldLease } from './held-lease.js';

/** Maximum events that the holder of a lost lease may have had in memory. Any of them may have crashed the process. */
const WATCHED_EVENTS = 5_000;
/** Maximum number of events with stored failures; attempts of further events restart at zero after a take-over. */
const MOST_NOTES = 100;

/** The failure of a parked event during whose attempts one process after the other died. */
export class HandlerDied extends Error {
  readonly code = 'FW_HANDLER_DIED';

  constructor(attempts: number) {
    super(`The process crashed during each of ${attempts} attempts`);
    this.name = 'HandlerDied';
  }
}

/**
 * The failure of an event whose attempt crashed a process, if that was its last attempt; undefined if attempts are
 * left. Only an event that was handled alone when the process died is parked for it.
 *
 * @param made attempts so far, including the one that crashed
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
 * Counts attempts that may crash the process, and only those: without a crash no statement is spent on it.
 *
 * - After a take-over from a holder that vanished without progress, the events that the holder may have had in memory
 *   are watched: attempts are recorded before they start, many with one statement.
 * - Events whose attempts were in progress when a process vanished are handled one at a time, so that a crash does not
 *   count against other events.
 * - Failed attempts are recorded too, so that they count after a take-over. Passing failures are not attempts.
 */
export class CrashSuspects {
  readonly #consumers: ConsumerStore;
  readonly #lease: HeldLease;
  /** Attempts to record, by event. */
  readonly #notes: Map<string, AttemptNote>;
  /** Attempts that earlier holders recorded. */
  readonly #inherited: Map<string, InheritedAttempts>;
  readonly #watched = new Set<string>();
  /** How many more events are to be watched. */
  #left: number;
  #atWork = 0;
  #alone = false;
  /** Number of attempts that wait to run alone. */
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

  /** Must be called for each event that is read. */
  read(eventId: string): void {
    if (this.#left <= 0 && this.#inherited.size === 0) return;
    if (this.#left > 0 || this.died(eventId)) this.#watched.add(eventId);
    this.#left -= 1;
  }

  /** Called at the end of the log: no process has attempted later events. */
  caughtUp(): void {
    this.#left = 0;
  }

  /** Attempts of earlier holders. */
  attemptsOf(eventId: string): number {
    return this.#inherited.get(eventId)?.attempts ?? 0;
  }

  /** Whether the previous holder vanished during an attempt at this event, with no other possible cause. */
  diedAlone(eventId: string): boolean {
    return this.#inherited.get(eventId)?.alone === true;
  }

  /** Whether the previous holder vanished during an attempt at this event. */
  died(eventId: string): boolean {
    return this.#inherited.get(eventId)?.died === true;
  }

  /** Whether attempts at this event must be made through `attempt`. */
  watches(eventId: string): boolean {
    return this.#watched.size > 0 && this.#watched.has(eventId);
  }

  /**
   * Makes an attempt that may crash the process.
   *
   * @param number of the attempt, from 1
   * @returns false if the attempt could not be recorded and was not made
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
   * Records a failed attempt, so that it counts after a take-over.
   *
   * @param attempts failed attempts that count, including this one if it does
   */
  failed(eventId: string, attempts: number): void {
    const note = this.#notes.get(eventId);
    if (note === undefined ? attempts === 0 : note.failed === attempts && !note.open) return;
    if (note === undefined && this.#notes.size >= MOST_NOTES) return;
    if (attempts === 0) this.#notes.delete(eventId);
    else this.#notes.set(eventId, { failed: attempts, open: false });
    this.#write().catch(() => {});
  }

  /** Called when an event is settled. If it is handled again on request, its attempts restart at zero. */
  settled(eventId: string): void {
    if (this.#notes.size === 0) return;
    this.#watched.delete(eventId);
    this.#inherited.delete(eventId);
    // Remaining records are written with the next attempt; removing the last one needs its own statement.
    if (this.#notes.delete(eventId) && this.#notes.size === 0) this.#write().catch(() => {});
  }

  /** Waits until all records are written. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  /** Records an attempt before it starts, when it may run. False if it cannot be recorded and must not start. */
  async #enter(eventId: string, number: number): Promise<boolean> {
    const alone = this.died(eventId);
    if (alone) this.#aloneNext += 1;
    // Attempts that run alone go first, because they hold back the checkpoint.
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

  /** Called when an attempt has ended, with or without success. */
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
