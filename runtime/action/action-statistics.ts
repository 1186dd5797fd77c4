import type { AttemptEnd } from './execution-report.js';

/** What a process has executed of one action since its start. */
export interface ActionStatistics {
  /** Stable name of the action. */
  readonly action: string;
  /** Executions by outcome: `ok`, `replayed`, or the code of the error. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Attempts that were followed by another one, by how they ended. */
  readonly retries: ReadonlyMap<AttemptEnd, number>;
  /** Executions by duration: up to 1 ms, 2.5, 5, 10, 25, 50, 100, 250 and 500 ms, 1 s, 2.5, 5 and 10 s, and longer ones. */
  readonly durations: readonly number[];
  /** Sum of all durations. */
  readonly seconds: number;
  /** By duration, as above: the latest execution with a sampled trace, and its end in milliseconds since 1970. */
  readonly exemplars?:
    | readonly ({ readonly seconds: number; readonly traceId: string; readonly timeMs: number } | undefined)[]
    | undefined;
}

/** Reads of models by id inside `perform` since the process started. */
export interface RememberedCounts {
  /** Answered without a query. */
  readonly hit: number;
  /** Answered by a query. */
  readonly miss: number;
  /** Of the hits, those that a write has disproven, or that were of no use: `perform` has run again. */
  readonly disproven: number;
}
