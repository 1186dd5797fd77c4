import { type LogEntry, type Logger, writeEntry } from '../domain/logger.js';
import { time } from './time.js';

/** Time and timers of a log limiter. */
export interface LogLimiterEnvironment {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Calls back once after `ms` milliseconds. */
  readonly later: (work: () => void, ms: number) => void;
}

/** The current second of one kind. */
interface Second {
  sinceMs: number;
  written: number;
  suppressed: number;
  /** Creates the entry that was suppressed last. */
  last: (() => LogEntry) | undefined;
}

const SECOND_MS = 1_000;
/** Maximum kinds at a time; further ones share one limit. */
const MOST_KINDS = 256;
const OTHER_KINDS = 'other kinds';

const SYSTEM: LogLimiterEnvironment = {
  nowMs: () => time.nowMs(),
  later: (work, ms) => void time.setTimeout(work, ms).unref(),
};

/**
 * Limits log lines per kind and second: under overload, a line per refusal would fill disks and occupy the CPU. At the
 * end of a second with suppressed entries, the last one is written with `suppressed`, the number of suppressed entries
 * before it.
 */
export class LogLimiter {
  readonly #log: Logger;
  readonly #environment: LogLimiterEnvironment;
  readonly #kinds = new Map<string, Second>();
  #watching = false;

  constructor(log: Logger, environment: LogLimiterEnvironment = SYSTEM) {
    this.#log = log;
    this.#environment = environment;
  }

  /**
   * Writes an entry, or counts it.
   *
   * @param kind entries of one kind share a limit; must not contain client input
   * @param make creates the entry; called only if it is written
   * @param perSecond maximum entries of this kind per second. Default 1.
   * @returns whether it was written
   */
  write(kind: string, make: () => LogEntry, perSecond = 1): boolean {
    const second = this.#secondOf(kind);
    if (second.written < perSecond) {
      second.written += 1;
      writeEntry(this.#log, make());
      return true;
    }
    second.suppressed += 1;
    second.last = make;
    return false;
  }

  #secondOf(kind: string): Second {
    const isNew = !this.#kinds.has(kind);
    const name = isNew && this.#kinds.size >= MOST_KINDS ? OTHER_KINDS : kind;
    let second = this.#kinds.get(name);
    if (second === undefined) {
      second = { sinceMs: this.#environment.nowMs(), written: 0, suppressed: 0, last: undefined };
      this.#kinds.set(name, second);
      this.#watch();
    }
    return second;
  }

  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#environment.later(() => {
      this.#watching = false;
      this.#endSeconds();
      if (this.#kinds.size > 0) this.#watch();
    }, SECOND_MS);
  }

  /** The summary of a second counts as a line of the next one. */
  #endSeconds(): void {
    const nowMs = this.#environment.nowMs();
    for (const [kind, second] of this.#kinds) {
      if (nowMs - second.sinceMs < SECOND_MS) continue;
      const { last, suppressed } = second;
      if (last === undefined) {
        this.#kinds.delete(kind);
        continue;
      }
      Object.assign(second, { sinceMs: nowMs, written: 1, suppressed: 0, last: undefined });
      writeEntry(this.#log, { ...last(), suppressed: suppressed - 1 });
    }
  }
}
