import { time } from './time.js';

/** Keeps the result of a function for a time, for any number of callers. */
export function fresh<T>(produce: () => Promise<T>, lifetimeMs: number): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let freshUntilMs = 0;
  return () => {
    const now = time.nowMs();
    if (latest !== undefined && now <= freshUntilMs) return latest;
    freshUntilMs = now + lifetimeMs;
    latest = produce();
    return latest;
  };
}
