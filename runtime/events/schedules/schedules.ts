import { shardOfUuid } from '../../domain/id.js';
import type { JsonValue } from '../../domain/json.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { parseUuid } from '../../domain/uuid.js';
import type { OperatedShards } from '../delivery/operated-shards.js';
import * as column from '../log/columns.js';

/** `failed`: the last attempt has failed. */
type ScheduleState = 'pending' | 'running' | 'done' | 'failed' | 'cancelled';

/** An action that a plan has scheduled. */
export interface ScheduledAction {
  readonly id: string;
  readonly shard: ShardIdentifier;
  readonly state: ScheduleState;
  readonly dueDate: Date;
  /** When the next attempt is made; the due date before the first one. */
  readonly nextDate: Date;
  readonly actionName: string;
  readonly params: JsonValue;
  /** Version of the stored params. */
  readonly paramsVersion: number;
  readonly principal: string;
  /** The action whose plan scheduled it; its own id if it recurs. */
  readonly scheduledBy: string;
  readonly attempts: number;
  readonly errorCode: string | undefined;
  readonly errorMessage: string | undefined;
  readonly completedDate: Date | undefined;
}

/** An action that runs at the due times of its `@FwSchedule`. */
export interface RecurringAction {
  readonly shard: ShardIdentifier;
  readonly actionName: string;
  readonly cron: string;
  readonly zone: string;
  readonly isPaused: boolean;
  readonly nextDate: Date;
  /** Due time of the last run; undefined if it has never run. */
  readonly lastDate: Date | undefined;
  /** State of the last run; undefined if it has never run, or retention has deleted the run. */
  readonly lastState: ScheduleState | undefined;
}

/** Selects scheduled actions. Fields combine by AND; an empty filter matches all. */
interface ScheduleFilter {
  readonly shard?: ShardIdentifier;
  /** Default: pending, running and failed ones. */
  readonly state?: ScheduleState;
  /** The action's stable name. */
  readonly action?: string;
  /** Maximum per shard. Default 100. */
  readonly limit?: number;
}

/** The scheduled actions of all shards. */
export class Schedules {
  readonly #shards: OperatedShards;

  /** @internal */
  constructor(shards: OperatedShards) {
    this.#shards = shards;
  }

  /** Lists scheduled actions by next date, on each shard. */
  list(filter: ScheduleFilter = {}): Promise<readonly ScheduledAction[]> {
    const { shard, state, action, limit = 100 } = filter;
    return this.#shards.read(
      shard,
      { text: LIST, values: [state ?? null, action ?? null, limit] },
      SCHEDULED,
    );
  }

  /** Lists recurring actions by name, on each shard. @param shard only this shard. Default: all */
  recurring(shard?: ShardIdentifier): Promise<readonly RecurringAction[]> {
    return this.#shards.read(shard, { text: RECURRING, values: [] }, RECURRING_ACTION);
  }

  /**
   * Pauses a recurring action, also beyond restarts: its due times pass without a run. A run that has begun continues.
   *
   * @param shard only this shard. Default: all
   * @returns on how many shards it is paused
   */
  pause(action: string, shard?: ShardIdentifier): Promise<number> {
    return this.#shards.change(shard, { text: PAUSE, values: [action, true] });
  }

  /** Resumes a recurring action at its next due time. @returns on how many shards it is resumed */
  resume(action: string, shard?: ShardIdentifier): Promise<number> {
    return this.#shards.change(shard, { text: PAUSE, values: [action, false] });
  }

  /**
   * Cancels a scheduled action. False if it has run, is running, or is unknown.
   *
   * @throws ValidationError if the id is invalid
   * @throws UnknownShardError if its shard is not configured
   */
  cancel(id: string): Promise<boolean> {
    return this.#changeOne(id, CANCEL);
  }

  /**
   * Retries a failed scheduled action with a new series of attempts. False if it is in another state, or if another run
   * of its recurring action is in progress and may not overlap.
   */
  retry(id: string): Promise<boolean> {
    return this.#changeOne(id, RETRY);
  }

  async #changeOne(id: string, text: string): Promise<boolean> {
    return (await this.#shards.change(shardOfUuid(parseUuid(id)), { text, values: [id] })) > 0;
  }
}

const RECURRING_ACTION: column.Columns<Omit<RecurringAction, 'shard'>> = {
  actionName: column.text('r.action_name'),
  cron: column.text("r.definition ->> 'cron'"),
  zone: column.text("r.definition ->> 'zone'"),
  isPaused: column.flag('r.paused'),
  nextDate: column.raw('r.next_date'),
  lastDate: column.optional(column.raw('r.last_date')),
  lastState: column.optional(column.raw('s.state')),
};

const RECURRING = `SELECT ${column.list(RECURRING_ACTION)} FROM eventlog.recurring_actions AS r
LEFT JOIN eventlog.schedules AS s ON s.id = r.last_id ORDER BY r.action_name`;

const PAUSE = 'UPDATE eventlog.recurring_actions SET paused = $2 WHERE action_name = $1';

const SCHEDULED: column.Columns<Omit<ScheduledAction, 'shard'>> = {
  id: column.text('id'),
  state: column.raw('state'),
  dueDate: column.raw('due_date'),
  nextDate: column.raw('next_date'),
  actionName: column.text('action_name'),
  params: column.raw('params'),
  paramsVersion: column.numeric('params_version'),
  principal: column.text('principal'),
  scheduledBy: column.text('action_id'),
  attempts: column.numeric('attempts'),
  errorCode: column.optional(column.text('error_code')),
  errorMessage: column.optional(column.text('error_message')),
  completedDate: column.optional(column.raw('completed_date')),
};

const LIST = `SELECT ${column.list(SCHEDULED)} FROM eventlog.schedules
WHERE (state = $1 OR ($1::text IS NULL AND state IN ('pending', 'running', 'failed')))
  AND ($2::text IS NULL OR action_name = $2)
ORDER BY next_date LIMIT $3`;

/** An action that waits for a retry can be cancelled as well: a failed attempt has no effect. */
const CANCEL = `UPDATE eventlog.schedules SET state = 'cancelled', completed_date = now()
WHERE id = $1 AND state IN ('pending', 'failed')`;

/** A run of a recurring action names itself as its action. It becomes the last run, for which the next one waits. */
const RETRY = `WITH failed AS (
  SELECT s.id, s.due_date, r.action_name, r.xmin AS version FROM eventlog.schedules AS s
  LEFT JOIN eventlog.recurring_actions AS r ON r.action_name = s.action_name AND s.action_id = s.id
  LEFT JOIN eventlog.schedules AS last ON last.id = r.last_id
  WHERE s.id = $1 AND s.state = 'failed' AND ((r.definition ->> 'overlap')::boolean IS NOT FALSE
    OR last.state IS NULL OR last.state NOT IN ('pending', 'running'))),
noted AS (
  UPDATE eventlog.recurring_actions AS r SET last_id = failed.id, last_date = failed.due_date FROM failed
  WHERE r.action_name = failed.action_name AND r.xmin = failed.version RETURNING 1)
UPDATE eventlog.schedules AS s SET state = 'pending', attempts = 0, next_date = now(), completed_date = NULL
FROM failed WHERE s.id = failed.id AND s.state = 'failed' AND (failed.action_name IS NULL OR EXISTS (SELECT FROM noted))`;
