import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 250;

/** Polls until `look` returns a value, for `seconds` at most; undefined after that. */
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
