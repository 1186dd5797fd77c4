import type { AttemptEnd, AttemptReport } from '../action/execution-report.js';

/** The result of an earlier execution under the same key. */
export interface Replay {
  readonly result: unknown;
}

/** The attempt was not and never will be applied; it may run again with fresh reads. */
export interface Retry {
  readonly kind: 'retry';
  readonly end: AttemptEnd;
  /** The error to throw if no further attempt follows. */
  readonly error: Error;
  /**
   * `model/id` of rows of which at least one had another version than expected, in this plan or in one that it depends
   * on.
   */
  readonly rows?: readonly string[];
  /** Minimum remaining time for a further attempt, in milliseconds. Default `LEAST_MS`. */
  readonly leastMs?: number;
  /** The values of the attempt for a natural key that another model holds. */
  readonly wanted?: string;
}

/** The outcome of one shard transaction, which is applied completely or not at all. */
export type PartResult =
  | {
      readonly kind: 'applied';
      readonly write: AttemptReport['write'];
      /** Whether another process had locked one of the rows. Default false. */
      readonly contended?: boolean;
    }
  | { readonly kind: 'replayed'; readonly replay: Replay }
  | Retry;

/** The outcome of one attempt. */
export type AttemptResult<Result> = { readonly kind: 'done'; readonly result: Result } | Retry;

/** A promise only if the outcome is not known yet. */
export type Completed<Result> = AttemptResult<Result> | Promise<AttemptResult<Result>>;
