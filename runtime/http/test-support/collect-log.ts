import type { LogEntry, Logger } from '../../observability/logger.js';

/** A logger that keeps its entries in a list. */
export function collectLog(entries: LogEntry[]): Logger {
  const log =
    (level: LogEntry['level']) =>
    (facts: object, message: string): void =>
      void entries.push({ level, message, ...facts });
  return { info: log('info'), warn: log('warn'), error: log('error') };
}
