import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 250;

/** Looks until `look` gives something, for so many seconds at most; undefined if it never did. */
export async function untilSettled<T>(
  waitSeconds: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const endMs = performance.now() + waitSeconds * 1_000;
  for (;;) {
    const settled = await look();
    if (settled !== undefined || performance.now() >= endMs) return settled;
    await pause(LOOK_EVERY_MS);
  }
}
