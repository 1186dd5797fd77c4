import { AbortedError } from '../../errors.js';
import { onAbort } from '../../sharding/abort-listeners.js';

/** Waits for `work` until the signal is aborted. A later result or failure of `work` is ignored. */
export function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = onAbort(signal, resolve);
    work.finally(end).then(resolve, reject);
  });
}

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
