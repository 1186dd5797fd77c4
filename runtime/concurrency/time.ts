/** A timer under way. */
export interface Timer {
  /** The process may end before it fires. */
  unref(): Timer;
}

/**
 * All time and every timer of the runtime, but for the times in new ids: a simulation runs the whole runtime on a clock
 * of its own by replacing it (`useTime`).
 */
export interface Time {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Milliseconds since 1970, as the machine believes. */
  readonly dateMs: () => number;
  readonly setTimeout: (work: () => void, milliseconds: number) => Timer;
  readonly clearTimeout: (timer: Timer | undefined) => void;
  readonly setInterval: (work: () => void, milliseconds: number) => Timer;
  readonly clearInterval: (timer: Timer | undefined) => void;
  /** In the next turn of the event loop, after what has arrived meanwhile was read. */
  readonly setImmediate: (work: () => void) => void;
}

/** The machine's. Looked up at each call, so that a test runner may replace the globals. */
const system: Time = {
  nowMs: () => performance.now(),
  dateMs: () => Date.now(),
  setTimeout: (work, milliseconds) => setTimeout(work, milliseconds),
  // Every timer comes from the functions above.
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  setInterval: (work, milliseconds) => setInterval(work, milliseconds),
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout | undefined),
  setImmediate: (work) => void setImmediate(work),
};

/** The time that is in force. */
export const time: Time = { ...system };

/** Puts another time in force, all or parts of it, for the whole process. @returns puts the machine's in force again */
export function useTime(other: Partial<Time>): () => void {
  Object.assign(time, other);
  return () => void Object.assign(time, system);
}

/** How a pause ends early. */
export interface SleepOptions {
  readonly signal?: AbortSignal | undefined;
  /** With false, the process may end during the pause. Default true. */
  readonly ref?: boolean;
}

/** A pause. @throws an error of the name `AbortError` when the signal fires; its `cause` is the signal's reason */
export function sleep(milliseconds: number, { signal, ref = true }: SleepOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortError(signal));
      return;
    }
    const end = (): void => {
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    const timer = time.setTimeout(end, milliseconds);
    const abort = (): void => {
      time.clearTimeout(timer);
      reject(abortError(signal));
    };
    if (!ref) timer.unref();
    signal?.addEventListener('abort', abort, { once: true });
  });
}

function abortError(signal: AbortSignal | undefined): Error {
  const error = new Error('The pause was aborted', { cause: signal?.reason });
  error.name = 'AbortError';
  return error;
}
