import { pino } from 'pino';
import { atMost } from '../concurrency/at-most.js';
import { time } from '../concurrency/time.js';
import type { LogEntry, Logger } from '../domain/logger.js';

export type { LogEntry, Logger };

/**
 * Characters that `JSON.stringify` does not escape and that terminals or viewers interpret: C1 controls, line
 * separators, text direction.
 */
const ACTIVE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Parts of fact names that indicate a secret. */
const SECRET_NAMES = ['password', 'secret', 'token', 'authorization', 'cookie'];

/**
 * The default: a pino logger that synchronously writes one line of JSON per entry. `time` is in ISO 8601 and `level` a
 * word. Every control character is escaped, and facts with the name of a secret are `***`.
 *
 * @param write receives each line. Default: writes to stderr.
 */
export function defaultLogger(
  write: (line: string) => void = (line) => writeOrLose(process.stderr, line),
): Logger {
  return pino(
    {
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(time.dateMs()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`]), censor: '***' },
    },
    { write: (line) => write(escaped(line)) },
  );
}

const guarded = new WeakSet<NodeJS.WriteStream>();

/** Writes to a stream of this process. A full disk or a closed pipe loses the text, and does not end the process. */
export function writeOrLose(stream: NodeJS.WriteStream, text: string): void {
  if (!guarded.has(stream)) stream.on('error', () => {});
  guarded.add(stream);
  stream.write(text);
}

function escaped(line: string): string {
  return line.replace(ACTIVE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Maximum wait for a logger to flush, in milliseconds. */
const FLUSH_WITHIN_MS = 1_000;

/**
 * Flushes a logger.
 * @returns a promise that resolves when the buffer is written or cannot be, or after a second. Never rejects
 */
export async function flushLogger(logger: Logger): Promise<void> {
  const flushed = new Promise<void>((resolve) => {
    if (logger.flush === undefined) resolve();
    else logger.flush(() => resolve());
  });
  await atMost(flushed, FLUSH_WITHIN_MS).catch(() => {});
}
