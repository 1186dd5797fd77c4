import type { StagedItem } from '../../action/action-plan.js';
import type { JournalOpening } from '../journal/journal-store.js';
import type { KeyClaim } from './idempotency-key.js';

/** One plan (or one shard transaction of a cross-shard plan) as the writer takes it: everything lies on one shard. */
export interface PlanWrite {
  readonly action: ActionRow;
  /** Version of the shape of the action's params. Default 1. */
  readonly paramsVersion?: number | undefined;
  readonly items: readonly StagedItem[];
  /** W3C `traceparent`, kept with every event. */
  readonly traceContext: string | undefined;
  /** Claimed in the plan's own transaction: if it is taken already, nothing of the plan is applied. */
  readonly key: KeyClaim | undefined;
  /** Actions to be run later. Default none. */
  readonly schedules?: readonly ScheduleRow[];
  /** Ids of scheduled actions that are taken back if they have not begun. Default none. */
  readonly cancelledSchedules?: readonly string[];
  /** Only with the first part of a cross-shard plan: opens its entry in the journal, in the same transaction. */
  readonly journal?: JournalOpening | undefined;
}

/** A row of `eventlog.schedules`; principal and trace context are those of the plan. */
export interface ScheduleRow {
  /** A version 7 UUID with the bits of the shard that it goes to. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly dueDate: string;
  readonly actionName: string;
  /** JSON text. */
  readonly params: string;
  /** Version of their shape. */
  readonly paramsVersion: number;
}

/** The row of `eventlog.actions` that one attempt leaves. */
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
