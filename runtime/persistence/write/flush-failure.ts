import { DriverFailure } from '../../sharding/driver-failure.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import type { ActionRow } from './plan-write.js';
import type { QueuedPlan } from './queued-plan.js';

/** A plan was sent, and its reply was lost. Fencing `fence` settles it, together with its group. */
export class LostWrite extends Error {
  /** The action row on which the plan's part of the statement depends: its own, or that of its group's first plan. */
  readonly fence: ActionRow;
  override readonly cause: DriverFailure;

  constructor(fence: ActionRow, cause: DriverFailure) {
    super(cause.message);
    this.name = 'LostWrite';
    this.fence = fence;
    this.cause = cause;
  }
}

/** Whether no plan has caused the failure, so that sending fewer plans would not help. */
export function isAboutTheServer(error: unknown): error is DriverFailure {
  if (!(error instanceof DriverFailure)) return false;
  const { phase, sqlState } = error;
  if (phase !== 'answered' || sqlState === undefined) return phase !== 'answered';
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'unavailable' || meaning === 'saturated';
}

/** Whether a row was locked for too long. Every plan that touches it would fail in the same way. */
export function isAboutLocks(error: unknown): boolean {
  return (
    error instanceof DriverFailure &&
    error.sqlState !== undefined &&
    sqlStateMeaning(error.sqlState) === 'locked'
  );
}

/**
 * A plan that was in flight may have been applied. Its execution determines that, and its pending plan waits for it.
 */
export function giveBack(entry: QueuedPlan, failure: DriverFailure): void {
  if (failure.phase === 'in-flight' && entry.sentUnder !== undefined) {
    entry.reject(new LostWrite(entry.sentUnder, failure));
    return;
  }
  entry.pending.settle(false);
  entry.reject(failure);
}
