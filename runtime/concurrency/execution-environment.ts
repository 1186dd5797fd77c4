import { type Clock, systemClock } from '../domain/clock.js';
import { sleep, time } from './time.js';

/** Everything that enters an execution from outside, so that it can run under a virtual clock and a seed. */
export interface ExecutionEnvironment {
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  /** Rejects with an AbortError when the signal fires. */
  sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
}

/** The machine's clock, timers and randomness, with this clock for dates. */
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
