import { time } from '../../concurrency/time.js';
import { errorFacts } from '../../domain/logger.js';
import { flushLogger, type Logger } from '../../observability/logger.js';
import type { ProcessPort } from './process-port.js';

/** The process exits after this time, even with open requests, in milliseconds. */
const EXIT_WITHIN_MS = 10_000;
/** Exit codes of a process that a signal ended, by shell convention. */
const SIGNAL_EXIT_CODES = { SIGTERM: 143, SIGINT: 130 };

/**
 * Ends the process on a signal: the first one drains, a second one ends it at once. Unhandled rejections are logged; an
 * uncaught exception ends the process as a signal would, because its state is in doubt.
 *
 * @param log flushed before the process ends
 * @param close drains; its failure is logged
 * @returns a function that removes all listeners
 */
export function endWithProcess(port: ProcessPort, log: Logger, close: () => Promise<void>): () => void {
  let ending = false;
  const end = (reason: string, code: number): void => {
    ending = true;
    // Set before any work that may fail, such as logging.
    time.setTimeout(() => port.exit(1), EXIT_WITHIN_MS).unref();
    log.info({}, `${reason}: finishing requests in progress`);
    const closed = close().then(
      () => code,
      (error: unknown) => {
        log.error(errorFacts(error), 'closing failed');
        return 1;
      },
    );
    void closed.then(async (exitCode) => {
      await flushLogger(log);
      port.exit(exitCode);
    });
  };
  const onSignal = (signal: keyof typeof SIGNAL_EXIT_CODES): (() => void) =>
    port.on(signal, () => {
      if (ending) port.exit(SIGNAL_EXIT_CODES[signal]);
      else end(signal, 0);
    });
  const removers = [
    onSignal('SIGTERM'),
    onSignal('SIGINT'),
    port.on('unhandledRejection', (error) => log.error(errorFacts(error), 'unhandled rejection')),
    port.on('uncaughtException', (error) => {
      log.error(errorFacts(error), 'uncaught error');
      if (!ending) end('uncaught error', 1);
    }),
  ];
  return () => {
    for (const remove of removers) remove();
  };
}
