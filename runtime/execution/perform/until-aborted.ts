import { onAbort } from '../../sharding/abort-listeners.js';

/** Waits for `work` until the signal is aborted. A later result or failure of `work` is ignored. */
export function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = onAbort(signal, resolve);
    work.finally(end).then(resolve, reject);
  });
}
