import type { Logger } from './logger.js';

type Level = 'info' | 'warn' | 'error';

/**
 * Wraps an application's logger so that it never throws: entries that it fails on go to a fallback. A failing logger
 * neither ends a server nor stops its drain.
 */
export class SafeLogger implements Logger {
  readonly #log: Logger;
  readonly #fallback: Logger;

  private constructor(log: Logger, fallback: Logger) {
    this.#log = log;
    this.#fallback = fallback;
  }

  /**
   * @param fallback receives an entry on which `log` throws
   * @returns `log` itself if it is already safe; `fallback` without one
   */
  static of(log: Logger | undefined, fallback: Logger): Logger {
    if (log === undefined) return fallback;
    return log instanceof SafeLogger ? log : new SafeLogger(log, fallback);
  }

  info(facts: object, message: string): void {
    this.#write('info', facts, message);
  }

  warn(facts: object, message: string): void {
    this.#write('warn', facts, message);
  }

  error(facts: object, message: string): void {
    this.#write('error', facts, message);
  }

  flush(done: () => void): void {
    try {
      if (this.#log.flush === undefined) done();
      else ignoreRejection(this.#log.flush(done));
    } catch {
      done();
    }
  }

  #write(level: Level, facts: object, message: string): void {
    try {
      ignoreRejection(this.#log[level](facts, message));
    } catch {
      this.#fallback[level](facts, message);
    }
  }
}

/** An unhandled rejection would be logged by the logger that rejects. */
function ignoreRejection(result: unknown): void {
  if (result instanceof Promise) result.catch(() => {});
}
