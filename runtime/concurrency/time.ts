import { onAbort } from './abort-listeners.js';
import { outside } from './outside.js';

/** Node.js lets timers of a longer time fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** A started timer. */
export interface Timer {
  /** Allows the process to end before the timer fires. */
  unref(): Timer;
}

/**
 * All clocks and timers of the runtime, except the times in new ids and `systemClock`, which the application's `clock`
 * replaces. A simulation replaces them with `useTime` and runs the whole runtime on its own clock.
 */
export interface Time {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Milliseconds since 1970 on the system clock. */
  readonly dateMs: () => number;
  /** After 24 days at most. */
  readonly setTimeout: (work: () => void, milliseconds: number) => Timer;
  readonly clearTimeout: (timer: Timer | undefined) => void;
  readonly setInterval: (work: () => void, milliseconds: number) => Timer;
  readonly clearInterval: (timer: Timer | undefined) => void;
  /** Runs `work` in the next turn of the event loop, after input that has arrived meanwhile was read. */
  readonly setImmediate: (work: () => void) => void;
}

/**
 * The system's functions, looked up at each call, because a test runner may replace the globals. Timers fire outside of
 * the asynchronous context that starts them: shared work (a reconnect, a sweep, a batch of reads) may be started by a
 * `perform` and must not run under its rules. Code that awaits a pause keeps its own context.
 */
const system: Time = {
  nowMs: () => performance.now(),
  dateMs: () => Date.now(),
  setTimeout: (work, milliseconds) => outside(() => setTimeout(work, Math.min(milliseconds, LONGEST_MS))),
  // Every timer object comes from the functions above.
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  setInterval: (work, milliseconds) => outside(() => setInterval(work, Math.min(milliseconds, LONGEST_MS))),
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout | undefined),
  setImmediate: (work) => void outside(() => setImmediate(work)),
};

/** The current source of time. */
export const time: Time = { ...system };

/**
 * Replaces the source of time, or parts of it, for the whole process.
 * @returns a function that restores the system's
 */
export function useTime(other: Partial<Time>): () => void {
  Object.assign(time, other);
  return () => void Object.assign(time, system);
}

/** Options of a pause. */
export interface SleepOptions {
  readonly signal?: AbortSignal | undefined;
  /** If false, the process may end during the pause. Default true. */
  readonly ref?: boolean;
}

/** Waits. @throws an error with the name `AbortError` when the signal fires; its `cause` is the signal's reason */
export function sleep(milliseconds: number, { signal, ref = true }: SleepOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortError(signal));
      return;
    }
    const timer = time.setTimeout(() => {
      unlisten?.();
      resolve();
    }, milliseconds);
    const unlisten =
      signal &&
      onAbort(signal, () => {
        time.clearTimeout(timer);
        reject(abortError(signal));
      });
    if (!ref) timer.unref();
  });
}

function abortError(signal: AbortSignal | undefined): Error {
  const error = new Error('The pause was aborted', { cause: signal?.reason });
  error.name = 'AbortError';
  return error;
}
