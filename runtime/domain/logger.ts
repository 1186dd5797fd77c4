import { messageOf } from '../errors.js';

/** The logger of the runtime. Any pino logger fits, and any object with these methods. */
export interface Logger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  /** Writes the buffer, and calls `done`: otherwise an ending process waits a second. Absent: there is no buffer. */
  flush?(done?: (error?: Error) => void): void;
}

/** A log entry for operators. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  /** Facts by name. Never request bodies or secrets. */
  readonly [fact: string]: unknown;
}

export const SILENT: Logger = Object.freeze({ info: () => {}, warn: () => {}, error: () => {} });

/** A logger that adds these facts to each entry. An entry's own fact of the same name takes precedence. */
export function withFacts(log: Logger, facts: object): Logger {
  return {
    info: (own, message) => log.info({ ...facts, ...own }, message),
    warn: (own, message) => log.warn({ ...facts, ...own }, message),
    error: (own, message) => log.error({ ...facts, ...own }, message),
  };
}

/** Logs an entry. */
export function writeEntry(logger: Logger, { level, message, ...facts }: LogEntry): void {
  logger[level](facts, message);
}

/** Maximum number of reported causes. */
const DEEPEST_CAUSE = 3;

/**
 * An error's facts for the log, including its causes.
 *
 * @param withStack default true; false for expected failures, such as an unreachable database
 */
export function errorFacts(
  error: unknown,
  withStack = true,
  depth: number = DEEPEST_CAUSE,
): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: messageOf(error) };
  return {
    error: error.message,
    ...('code' in error ? { code: error.code } : {}),
    ...(withStack ? { stack: error.stack } : {}),
    ...(error.cause === undefined || depth === 0
      ? {}
      : { cause: errorFacts(error.cause, withStack, depth - 1) }),
  };
}
