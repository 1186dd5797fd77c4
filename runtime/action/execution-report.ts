/** How an attempt ended. */
export type AttemptEnd =
  /** Committed with its rows. */
  | 'applied'
  /** `perform` staged nothing, so nothing was written. */
  | 'nothing-staged'
  /** A version no longer matched. */
  | 'stale'
  /** A row stayed locked, or the database aborted this transaction (deadlock, serialization failure). */
  | 'locked'
  /** The connection was lost; the attempt was fenced and can never be applied. */
  | 'lost'
  /** Another action of this process had staged a newer state meanwhile; does not count as an attempt. */
  | 'superseded'
  /** It had started from a staged state that was not committed; does not count as an attempt. */
  | 'dependency-failed'
  /** It had read staged or remembered states that no statement proved, so it ran again; does not count as an attempt. */
  | 'unconfirmed'
  /** Another model has taken one of its natural keys, or another execution its idempotency key. */
  | 'key-taken'
  /** It failed with a refusal, an error or a limit. */
  | 'failed';

/** One attempt of an execution. */
export interface AttemptReport {
  /** From 1. */
  readonly number: number;
  readonly end: AttemptEnd;
  /** Ids of the attempt's rows in `eventlog.actions`, one per shard transaction. */
  readonly actionIds: readonly string[];
  /** In milliseconds. */
  readonly durationMs: number;
  /** Pause after it, in milliseconds; 0 after the last one. */
  readonly pauseMs: number;
  /** How it was written; undefined unless applied. For several shard transactions: the last one. */
  readonly write:
    | {
        /** Plans in the statement that applied it. */
        readonly batchSize: number;
        /** Plans that were folded into one with it, including itself. */
        readonly chainLength: number;
        /** Time in its shard's queue and in flight, in milliseconds. */
        readonly queuedMs: number;
      }
    | undefined;
}

/** The report on one call of `execute`, passed to `executionConfiguration().onReport(...)`. */
export interface ExecutionReport {
  /** Stable name of the action. */
  readonly action: string;
  readonly attempts: readonly AttemptReport[];
  /** True if the result is that of an earlier execution under the same idempotency key. */
  readonly replayed: boolean;
  /** From the call of `execute` to its outcome, in milliseconds. */
  readonly durationMs: number;
  /** Code of the error that was thrown, `UNKNOWN` for a foreign one; undefined after success. */
  readonly errorCode: string | undefined;
}
