import { type Timer, time } from './time.js';

/** Timers of a longer time fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Settles as `work` does, or as `late` after `milliseconds`. A later result or failure of `work` is ignored.
 *
 * @param late returns the value to use instead, or throws
 */
export async function within<T>(work: Promise<T>, milliseconds: number, late: () => T): Promise<T> {
  let timer: Timer | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = time.setTimeout(resolve, Math.min(milliseconds, LONGEST_MS));
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
