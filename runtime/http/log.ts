/** One thing that operators should know. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  /** Facts by name. Never bodies, never secrets. */
  readonly [fact: string]: unknown;
}

export type Log = (entry: LogEntry) => void;

/** What `JSON.stringify` leaves alone and terminals or viewers act upon: C1 controls, line separators, text direction. */
const ACTIVE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** One line of JSON per entry, with every control character escaped. Default: to stderr. */
export function jsonLog(write: (line: string) => void = (line) => void process.stderr.write(line)): Log {
  return (entry) => write(`${logLine(entry)}\n`);
}

function logLine(entry: LogEntry): string {
  const json = JSON.stringify({ time: new Date().toISOString(), ...entry });
  return json.replace(ACTIVE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Causes that are worth telling. */
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
