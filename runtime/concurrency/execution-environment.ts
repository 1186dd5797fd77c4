import { type Clock, systemClock } from '../domain/clock.js';
import { sleep, time } from './time.js';

/** The external inputs of an execution, so that it can run with a virtual clock and a seed. */
export interface ExecutionEnvironment {
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  /** Rejects with an AbortError when the signal fires. */
  sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
}

/** The system's clock, timers and random numbers. @param clock source of dates */
export function systemEnvironment(clock: Clock = systemClock): ExecutionEnvironment {
  return {
    clock,
    nowMs: () => time.nowMs(),
    random: Math.random,
    sleep: async (milliseconds, signal) => {
      await sleep(milliseconds, signal === undefined ? {} : { signal });
    },
  };
}
