/** How one attempt ended. */
export type AttemptEnd =
  /** Committed with its rows. */
  | 'applied'
  /** `perform` staged nothing, so nothing was written. */
  | 'nothing-staged'
  /** A version no longer matched. */
  | 'stale'
  /** A row stayed locked, or the database chose this transaction to fail. */
  | 'locked'
  /** The connection was lost; the attempt has been fenced and can never be applied. */
  | 'lost'
  /** Another action of this process had staged a newer state meanwhile; costs no attempt. */
  | 'superseded'
  /** It had started from a staged state that was not committed in the end; costs no attempt. */
  | 'dependency-failed'
  /** It wrote nothing and had read staged states: it ran again on what is committed; costs no attempt. */
  | 'unconfirmed'
  /** Another model has taken one of its natural keys. */
  | 'key-taken'
  /** It threw: a refusal, an error, a limit. */
  | 'failed';

/** One attempt of an execution. */
export interface AttemptReport {
  /** From 1. */
  readonly number: number;
  readonly end: AttemptEnd;
  /** Ids of the rows in `eventlog.actions` of the attempt, one per shard transaction. */
  readonly actionIds: readonly string[];
  /** From its start to its end, in milliseconds. */
  readonly durationMs: number;
  /** Pause after it, in milliseconds; 0 after the last one. */
  readonly pauseMs: number;
  /** How it was written; undefined unless applied. With several shard transactions: that of the last one. */
  readonly write: WriteReport | undefined;
}

/** How a plan was written. */
export interface WriteReport {
  /** Plans in the statement that applied it. */
  readonly batchSize: number;
  /** Plans that were folded into one with it, itself included. */
  readonly chainLength: number;
  /** From joining its shard's queue to the answer, in milliseconds. */
  readonly queuedMs: number;
}

/** The report on one call of `execute`, passed to `executionConfiguration().onReport(...)`. */
export interface ExecutionReport {
  readonly action: string;
  readonly attempts: readonly AttemptReport[];
  /** True if the result is that of an earlier execution under the same idempotency key. */
  readonly replayed: boolean;
  readonly durationMs: number;
  /** Code of the error that was thrown, `UNKNOWN` for a foreign one; undefined after success. */
  readonly errorCode: string | undefined;
}
