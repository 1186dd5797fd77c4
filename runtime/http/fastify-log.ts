import { format } from 'node:util';
import { type FastifyBaseLogger, LogController } from 'fastify';
import { errorFacts, type Logger } from '../domain/logger.js';

/** Fastify's own lines about requests are not written: `Answers` logs what operators need. */
export const requestLines: LogController = new LogController({
  disableRequestLogging: true,
  requestIdLogLabel: 'requestId',
});

/**
 * `fastify.log` and `request.log` of plugins and custom routes: writes to the server's log, under the request's id.
 * Entries below `info` are discarded.
 */
export class FastifyLog implements FastifyBaseLogger {
  level = 'info';
  readonly #log: Logger;
  readonly #facts: object;

  constructor(log: Logger, facts: object = {}) {
    this.#log = log;
    this.#facts = facts;
  }

  child(facts: object): FastifyLog {
    return new FastifyLog(this.#log, { ...this.#facts, ...facts });
  }

  info(...entry: readonly unknown[]): void {
    this.#write('info', entry);
  }

  warn(...entry: readonly unknown[]): void {
    this.#write('warn', entry);
  }

  error(...entry: readonly unknown[]): void {
    this.#write('error', entry);
  }

  fatal(...entry: readonly unknown[]): void {
    this.#write('error', entry);
  }

  debug(): void {}

  trace(): void {}

  silent(): void {}

  /** The arguments of pino: facts or an error, then a text with its values; or the text alone. */
  #write(level: 'info' | 'warn' | 'error', [first, ...rest]: readonly unknown[]): void {
    if (first instanceof Error)
      this.#log[level]({ ...this.#facts, ...errorFacts(first) }, textOf(rest, first.message));
    else if (typeof first === 'object') this.#log[level]({ ...this.#facts, ...first }, textOf(rest));
    else if (first !== '') this.#log[level](this.#facts, textOf([first, ...rest]));
  }
}

function textOf(parts: readonly unknown[], otherwise = ''): string {
  return parts.length === 0 ? otherwise : format(...parts);
}
