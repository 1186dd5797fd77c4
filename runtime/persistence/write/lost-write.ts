import type { DriverFailure } from '../../sharding/driver-failure.js';
import type { ActionRow } from './plan-write.js';

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
