import type { DriverFailure } from '../../sharding/driver-failure.js';
import type { ActionRow } from './plan-write.js';

/** A plan was sent and no answer came. Fencing `fence` decides about it and about everything sent with it as one. */
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
