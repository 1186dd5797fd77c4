import { time } from './time.js';

/** Upper bounds of the durations that are counted, in seconds: from a batch that left at once to a long deadline. */
export const DURATION_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** The latest traced duration of a bucket. */
export interface Exemplar {
  readonly seconds: number;
  readonly traceId: string;
  /** When it ended, in milliseconds since 1970. */
  readonly timeMs: number;
}

/** How often something took how long. */
export interface DurationCounts {
  /** One number per bound of `DURATION_BOUNDS`, and one for longer ones. */
  readonly counts: readonly number[];
  /** Sum of all durations. */
  readonly seconds: number;
  /** By bucket. Absent: none was traced. */
  readonly exemplars?: readonly (Exemplar | undefined)[] | undefined;
}

/** Counts durations. A library's histogram would hash its labels at each of them, which costs more than counting. */
export class Durations implements DurationCounts {
  readonly counts: number[] = new Array<number>(DURATION_BOUNDS.length + 1).fill(0);
  seconds = 0;
  exemplars: (Exemplar | undefined)[] | undefined;

  /** @param traceId of its trace, if that is sampled */
  add(ms: number, traceId?: string): void {
    const seconds = ms / 1_000;
    this.seconds += seconds;
    let bucket = 0;
    while (bucket < DURATION_BOUNDS.length && seconds > (DURATION_BOUNDS[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    if (traceId === undefined) return;
    this.exemplars ??= [];
    this.exemplars[bucket] = { seconds, traceId, timeMs: time.dateMs() };
  }
}
