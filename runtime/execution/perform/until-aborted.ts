import { onAbort } from '../../sharding/abort-listeners.js';

/** Waits for work, but not longer than until the signal is aborted. What it leads to later is nobody's concern. */
export function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = onAbort(signal, resolve);
    work.finally(end).then(resolve, reject);
  });
}
