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

/** An error's facts for the log, its causes included. */
export function errorFacts(error: unknown, depth = 3): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: String(error) };
  const code = 'code' in error ? { code: error.code } : {};
  const cause = error.cause === undefined || depth === 0 ? {} : { cause: errorFacts(error.cause, depth - 1) };
  return { error: error.message, ...code, stack: error.stack, ...cause };
}
