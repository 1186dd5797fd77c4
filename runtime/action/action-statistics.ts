import type { AttemptEnd } from './execution-report.js';

/** Upper bounds of the durations that are counted, in seconds: from a batch that left at once to a long deadline. */
export const DURATION_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** What a process has executed of one action since its start. */
export interface ActionStatistics {
  /** Stable name of the action. */
  readonly action: string;
  /** Executions by outcome: `ok`, `replayed`, or the code of the error. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Attempts that were followed by another one, by how they ended. */
  readonly retries: ReadonlyMap<AttemptEnd, number>;
  /** Executions by duration: one number per bound of `DURATION_BOUNDS`, and one for longer ones. */
  readonly durations: readonly number[];
  /** Sum of all durations. */
  readonly seconds: number;
}
