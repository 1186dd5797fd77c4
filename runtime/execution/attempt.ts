import type { StagedItem } from '../action/action-plan.js';
import type { AttemptEnd, WriteReport } from '../action/execution-report.js';
import { ShardUnavailableError } from '../errors.js';
import type { PendingPlan } from '../persistence/write/pending-plan.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { PlanPart } from './routing.js';

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
  /** The values of the attempt for a natural key that another model holds. */
  readonly wanted?: string;
}

/** The outcome of one shard transaction, which is applied completely or not at all. */
export type PartResult =
  | {
      readonly kind: 'applied';
      readonly write: WriteReport | undefined;
      /** Whether another process had locked one of the rows. Default false. */
      readonly contended?: boolean;
    }
  | { readonly kind: 'replayed'; readonly replay: Replay }
  | Retry;

/** The outcome of one attempt. */
export type AttemptResult<Result> = { readonly kind: 'done'; readonly result: Result } | Retry;

/** A promise only if the outcome is not known yet. */
export type Completed<Result> = AttemptResult<Result> | Promise<AttemptResult<Result>>;

/** The state of an attempt after `perform`, before its outcome is known. */
export type Prepared<Result> =
  | Awaiting<Result>
  /** Other executions have staged newer states than it read. */
  | { readonly kind: 'superseded'; readonly items: readonly StagedItem[] }
  /** It has read remembered states that no single statement can prove. */
  | { readonly kind: 'unproven' }
  /** Another process is changing its rows. */
  | { readonly kind: 'held'; readonly items: readonly StagedItem[] }
  /** The plan was sent, and other executions see its staged states. */
  | {
      readonly kind: 'sent';
      readonly result: Result;
      readonly items: readonly StagedItem[];
      readonly part: Promise<PartResult>;
    };

/** Pending plans hold natural keys that this plan takes. */
export interface KeyTaken {
  readonly kind: 'key-taken';
  readonly dependencies: readonly PendingPlan[];
  readonly items: readonly StagedItem[];
  /** The index of one of the keys. */
  readonly constraint: string;
}

/** An outcome that is valid only if all dependencies, whose staged states the run has read, are applied. */
export type Awaiting<Result> =
  /** `perform` threw, or its plan is refused. */
  | { readonly kind: 'refused'; readonly error: unknown; readonly dependencies: readonly PendingPlan[] }
  | KeyTaken
  | { readonly kind: 'read-only'; readonly result: Result; readonly dependencies: readonly PendingPlan[] }
  /**
   * The plan must wait before it is sent: for another shard's commit, for its key's home, or for its first shard
   * transaction.
   */
  | {
      readonly kind: 'detached';
      readonly result: Result;
      readonly parts: readonly PlanPart[];
      readonly dependencies: readonly PendingPlan[];
      readonly startedDate: Date;
    };

/** A read whose connection was lost in flight: nothing was written, so the attempt may run again. */
export function isLostRead(error: unknown): error is ShardUnavailableError {
  return (
    error instanceof ShardUnavailableError &&
    error.cause instanceof DriverFailure &&
    error.cause.phase === 'in-flight'
  );
}
