import type { Logger } from './logger.js';

const safe = new WeakSet<Logger>();

/**
 * A logger that never throws: entries on which the application's logger fails go to a fallback. A failing logger
 * neither ends a server nor stops its drain.
 *
 * @returns `log` itself if it is already safe; `fallback` without one
 */
export function safeLogger(log: Logger | undefined, fallback: Logger): Logger {
  if (log === undefined || safe.has(log)) return log ?? fallback;
  const writer =
    (level: 'info' | 'warn' | 'error') =>
    (facts: object, message: string): void => {
      try {
        ignoreRejection(log[level](facts, message));
      } catch {
        fallback[level](facts, message);
      }
    };
  const flush = (done: () => void): void => {
    try {
      if (log.flush === undefined) done();
      else ignoreRejection(log.flush(done));
    } catch {
      done();
    }
  };
  const made: Logger = { info: writer('info'), warn: writer('warn'), error: writer('error'), flush };
  safe.add(made);
  return made;
}

/** An unhandled rejection would be logged by the logger that rejects. */
function ignoreRejection(result: unknown): void {
  if (result instanceof Promise) result.catch(() => {});
}
