/** Waits for work, but not longer than until the signal is aborted. What it leads to later is nobody's concern. */
export function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve();
    signal.addEventListener('abort', abort, { once: true });
    work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject);
  });
}
