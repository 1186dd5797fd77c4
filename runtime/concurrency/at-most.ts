import { type Timer, time } from './time.js';

/**
 * Settles as `work` does, or as `late` after `milliseconds`. A later result or failure of `work` is ignored.
 *
 * @param late returns the value to use instead, or throws
 */
export async function within<T>(work: Promise<T>, milliseconds: number, late: () => T): Promise<T> {
  let timer: Timer | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = time.setTimeout(resolve, milliseconds);
  });
  try {
    return await Promise.race([work, timeout.then(late)]);
  } finally {
    time.clearTimeout(timer);
  }
}

/** Waits for `work`, but not longer than `milliseconds`. A later result or failure of `work` is ignored. */
export async function atMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  await within(work, milliseconds, () => undefined);
}
