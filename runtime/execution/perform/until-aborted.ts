import { onAbort } from '../../concurrency/abort-listeners.js';
import { AbortedError } from '../../errors.js';

/** Settles as `work` does, or rejects when the signal is aborted. @throws AbortedError */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      const message = 'The execution was aborted before anything was sent';
      reject(new AbortedError(message, { cause: signal.reason }));
    };
    if (signal.aborted) abort();
    const end = onAbort(signal, abort);
    work.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}
