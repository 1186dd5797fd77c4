import { sleep, time } from '../../concurrency/time.js';
import type { LogCursor, LoggedEvent } from '../log/event-record.js';
import type { LogPage } from '../log/log-reader.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import type { CountedAttempts } from './counted-attempts.js';
import type { LeasedLoop, RunEnd } from './leased-loop.js';

/** Minimum time between two reads, unless more events are known to exist, in milliseconds. */
const READ_GAP_MS = 2;
/** Minimum and maximum time before events above the horizon are read again, in milliseconds. */
const PENDING_POLL_MS = 5;
const LONGEST_PENDING_POLL_MS = 100;

/**
 * The events of a consumer, page by page, for both ways to commit them: `ConsumerRun` and `TransactionalRun`. While the
 * events of one page are handled, the next one is read.
 */
export class LogSource {
  readonly #options: ConsumerRunOptions;
  readonly #loop: LeasedLoop;
  readonly #counted: CountedAttempts;
  #cursor: LogCursor;
  #end: RunEnd | undefined;
  #quietMs = 0;
  #readMs = Number.NEGATIVE_INFINITY;
  #more = false;
  /** The next page, if it is being read ahead, and whether there may be events that it lacks. */
  #ahead: Promise<LogPage> | undefined;
  #isOutdated = false;

  constructor(options: ConsumerRunOptions, loop: LeasedLoop, counted: CountedAttempts) {
    this.#options = options;
    this.#loop = loop;
    this.#counted = counted;
    this.#cursor = options.consumer.cursor;
  }

  /** The cursor up to which the log has been read. */
  get cursor(): LogCursor {
    return this.#cursor;
  }

  /** How the run ends once its events are done: at the end of a replay, or at an event for another release. */
  get end(): RunEnd | undefined {
    return this.#end;
  }

  /** Milliseconds until the next read, unless a notification arrives before; 0: there may be more events. */
  get quietMs(): number {
    return this.#quietMs;
  }

  woken(): void {
    this.#quietMs = 0;
    this.#isOutdated = true;
  }

  /** Only another release can handle an event: nothing more is read. */
  leave(reason: string): void {
    if (this.#end?.kind !== 'waiting') this.#end = { kind: 'waiting', reason };
  }

  rewind(cursor: LogCursor): void {
    this.#cursor = cursor;
    this.#end = undefined;
    this.#ahead = undefined;
  }

  /**
   * The next events. None if the log has none, or if the run is superseded.
   *
   * @param isAhead whether the page after them may be read while they are handled
   */
  async read(limit: number, isAhead: boolean): Promise<readonly LoggedEvent[]> {
    const { consumer, attempts, pollMs } = this.#options;
    const ahead = this.#ahead;
    this.#ahead = undefined;
    const page = await (ahead ?? this.#fetch(limit, this.#more));
    if (this.#end !== undefined) return [];
    if (page.serverRun !== consumer.serverRun) {
      this.#loop.supersede();
      return [];
    }
    const tooNew = page.events.find((event) => attempts.isTooNew(event));
    const events = tooNew === undefined ? page.events : page.events.slice(0, page.events.indexOf(tooNew));
    this.#counted.read(events.length);
    if (!page.more && !page.pending) this.#counted.caughtUp();
    this.#more = page.more;
    if (tooNew === undefined) this.#cursor = page.next;
    else this.leave(`${tooNew.eventType} version ${tooNew.eventVersion} is newer than this process knows`);
    if (page.ended) this.#end ??= { kind: 'finished' };
    this.#quietMs = page.more || this.#isOutdated ? 0 : page.pending ? this.#nextPendingMs() : pollMs();
    if (isAhead && page.more && this.#end === undefined) {
      this.#ahead = this.#fetch(limit, true);
      // The read that would have received the page throws its failure.
      this.#ahead.catch(() => {});
    }
    return events;
  }

  /**
   * Limits the rate of reads: under a stream of single commits, each of which wakes the run, reads would follow one
   * another without a pause.
   */
  async #fetch(limit: number, atOnce: boolean): Promise<LogPage> {
    const gapMs = READ_GAP_MS - (time.nowMs() - this.#readMs);
    if (!atOnce && gapMs > 0) await sleep(gapMs);
    this.#readMs = time.nowMs();
    this.#isOutdated = false;
    const { reader, selection } = this.#options;
    return reader.read(selection, this.#cursor, limit);
  }

  /** Grows, because the older transaction that keeps events above the horizon may end at once or after hours. */
  #nextPendingMs(): number {
    const { pollMs } = this.#options;
    return Math.min(Math.max(PENDING_POLL_MS, this.#quietMs * 1.5), LONGEST_PENDING_POLL_MS, pollMs());
  }
}
