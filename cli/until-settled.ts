import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 250;

/** Polls until `look` returns a value, the time is over or the signal is aborted; then undefined. */
export async function untilSettled<T>(
  waitSeconds: number,
  signal: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const endMs = performance.now() + waitSeconds * 1_000;
  for (;;) {
    const settled = await look();
    if (settled !== undefined || signal.aborted || performance.now() >= endMs) return settled;
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}
