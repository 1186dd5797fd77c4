import type { StagedItem } from '../../action/action-plan.js';
import type { PlannedSchedule } from '../../action/planned-schedule.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { JournalOpening } from '../journal/journal-store.js';
import type { KeyClaim } from './idempotency-key.js';

/** One plan, or one shard transaction of a cross-shard plan, as input of the writer. All of it is on one shard. */
export interface PlanWrite {
  readonly action: ActionRow;
  /** Version of the shape of the action's params. Default 1. */
  readonly paramsVersion?: number | undefined;
  readonly items: readonly StagedItem[];
  /** W3C `traceparent`, stored with every event. */
  readonly traceContext: string | undefined;
  /** Claimed in the plan's own transaction. If it is already taken, nothing of the plan is applied. */
  readonly key: KeyClaim | undefined;
  /** Actions to schedule. Default none. */
  readonly schedules?: readonly ScheduleRow[] | undefined;
  /** Ids of scheduled actions to cancel if they have not started. Default none. */
  readonly cancelledSchedules?: readonly string[] | undefined;
  /** Only for the first part of a cross-shard plan: opens its entry in the journal in the same transaction. */
  readonly journal?: JournalOpening | undefined;
}

/** A shard transaction: the part of a plan for one shard. */
export interface PartWrite {
  readonly shard: ShardIdentifier;
  readonly write: PlanWrite;
}

/** A row of `eventlog.schedules`; principal and trace context are those of the plan. */
export interface ScheduleRow {
  /** A version 7 UUID with the bits of its shard. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly dueDate: string;
  /** Milliseconds after the time of the database, which replace `dueDate`. */
  readonly afterMs?: number | undefined;
  readonly actionName: string;
  /** JSON text. */
  readonly params: string;
  /** Version of the shape of the params. */
  readonly paramsVersion: number;
  /** The principal that executes it, without claims. Default: that of the plan, with its claims. */
  readonly principal?: string | undefined;
  /** What the plan has scheduled; undefined in a plan that the journal has restored. */
  readonly planned?: PlannedSchedule | undefined;
}

/** The row of one attempt in `eventlog.actions`. */
export interface ActionRow {
  /** A version 7 UUID with the bits of the shard that it goes to. */
  readonly id: string;
  readonly name: string;
  readonly principal: string;
  /** JSON text. Default: the principal has none. */
  readonly claims?: string | undefined;
  readonly startedDate: Date;
  readonly completedDate: Date;
  /** JSON text. */
  readonly params: string | undefined;
}
