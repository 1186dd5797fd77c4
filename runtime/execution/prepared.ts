import type { StagedItem } from '../action/action-plan.js';
import { ShardUnavailableError } from '../errors.js';
import type { PendingPlan } from '../persistence/write/pending-plan.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { PartResult, Retry } from './part-result.js';
import type { PlanPart } from './routing.js';

/** The outcome of one attempt. */
export type AttemptResult<Result> = { readonly kind: 'done'; readonly result: Result } | Retry;

/** What `perform` has led to, before anything is known about its outcome. */
export type Prepared<Result> =
  | Awaiting<Result>
  /** Others have moved on from what it has read. */
  | { readonly kind: 'superseded'; readonly items: readonly StagedItem[] }
  /** Another process is changing its rows. */
  | { readonly kind: 'held'; readonly items: readonly StagedItem[] }
  /** On its way, and visible to others. */
  | {
      readonly kind: 'sent';
      readonly result: Result;
      readonly items: readonly StagedItem[];
      readonly part: Promise<PartResult>;
    };

/**
 * An outcome that is valid only once all dependencies, whose staged states the run has read, are known to be applied.
 */
export type Awaiting<Result> =
  /** It threw, or its plan is refused. */
  | { readonly kind: 'refused'; readonly error: unknown; readonly dependencies: readonly PendingPlan[] }
  /** Plans that are not settled yet hold natural keys which its own would take. */
  | { readonly kind: 'key-taken'; readonly dependencies: readonly PendingPlan[] }
  | { readonly kind: 'read-only'; readonly result: Result; readonly dependencies: readonly PendingPlan[] }
  /** Has to wait before it is sent: for another shard's commit, its key's home, or one shard after the other. */
  | {
      readonly kind: 'detached';
      readonly result: Result;
      readonly parts: readonly PlanPart[];
      readonly dependencies: readonly PendingPlan[];
      readonly startedDate: Date;
    };

/** A read whose connection was lost under way: nothing was written, so the attempt may run again. */
export function isLostRead(error: unknown): error is ShardUnavailableError {
  return (
    error instanceof ShardUnavailableError &&
    error.cause instanceof DriverFailure &&
    error.cause.phase === 'in-flight'
  );
}
