import { pino } from 'pino';
import { time } from '../concurrency/time.js';

/** Where the runtime logs to. Any pino logger fits, and so does what has these methods of it. */
export interface Logger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  /**
   * Writes what is buffered, and calls `done`: without that, a process that ends waits a second. Absent: nothing is.
   */
  flush?(done?: (error?: Error) => void): void;
}

/** One thing that operators should know. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  /** Facts by name. Never bodies, never secrets. */
  readonly [fact: string]: unknown;
}

/**
 * What `JSON.stringify` leaves alone and terminals or viewers act upon: C1 controls, line separators, text direction.
 */
const ACTIVE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Names under which a secret may get into the facts of an entry. */
const SECRET_NAMES = ['password', 'secret', 'token', 'authorization', 'cookie'];

/**
 * The default: a pino logger that writes one line of JSON per entry at once, without a thread of its own. `time` is in
 * ISO 8601 and `level` a word. Every control character is escaped, and facts with the name of a secret are `***`.
 *
 * @param write gets each line. Default: to stderr.
 */
export function defaultLogger(
  write: (line: string) => void = (line) => void process.stderr.write(line),
): Logger {
  return pino(
    {
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`]), censor: '***' },
    },
    { write: (line) => write(escaped(line)) },
  );
}

function escaped(line: string): string {
  return line.replace(ACTIVE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Logs an entry. */
export function writeEntry(logger: Logger, { level, message, ...facts }: LogEntry): void {
  logger[level](facts, message);
}

/** Maximum wait for a logger to flush, in milliseconds. */
const FLUSH_WITHIN_MS = 1_000;

/** Writes what a logger has buffered. @returns when it is written or cannot be, or after a second. Never rejects */
export function flushLogger(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    if (logger.flush === undefined) return resolve();
    const timer = time.setTimeout(resolve, FLUSH_WITHIN_MS);
    const done = (): void => {
      time.clearTimeout(timer);
      resolve();
    };
    try {
      logger.flush(done);
    } catch {
      done();
    }
  });
}

/** Causes that are worth reporting. */
const DEEPEST_CAUSE = 3;

/**
 * An error's facts for the log, its causes included.
 *
 * @param withStack default true; without it for what is expected to happen, such as a database that is down
 */
export function errorFacts(
  error: unknown,
  withStack = true,
  depth: number = DEEPEST_CAUSE,
): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: String(error) };
  return {
    error: error.message,
    ...('code' in error ? { code: error.code } : {}),
    ...(withStack ? { stack: error.stack } : {}),
    ...(error.cause === undefined || depth === 0
      ? {}
      : { cause: errorFacts(error.cause, withStack, depth - 1) }),
  };
}
