import type { AttemptEnd, WriteReport } from '../action/execution-report.js';

/** The result of an earlier execution under the same key. */
export interface Replay {
  readonly result: unknown;
}

/** Nothing of the attempt was or ever will be applied; it may be run again with fresh reads. */
export interface Retry {
  readonly kind: 'retry';
  readonly end: AttemptEnd;
  /** What is thrown if there is no further attempt. */
  readonly error: Error;
  /**
   * `model/id` of the rows of which one had another version than expected, here or in what this attempt depended on.
   */
  readonly rows?: readonly string[];
  /** Values that the attempt wanted for the natural key that is taken. */
  readonly wanted?: string;
}

/** The outcome of one shard transaction: applied, or not at all. */
export type PartResult =
  | {
      readonly kind: 'applied';
      readonly write: WriteReport | undefined;
      /** Another process had locked one of the rows. Default false. */
      readonly contended?: boolean;
    }
  | { readonly kind: 'replayed'; readonly replay: Replay }
  | Retry;
