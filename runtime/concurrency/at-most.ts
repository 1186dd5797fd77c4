import { type Timer, time } from './time.js';

/** Waits for `work`, but not longer than `milliseconds`. A later result or failure of `work` is ignored. */
export async function atMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: Timer | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = time.setTimeout(resolve, milliseconds);
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    time.clearTimeout(timer);
  }
}
