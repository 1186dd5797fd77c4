import { shardOfUuid } from '../../domain/id.js';
import type { JsonValue } from '../../domain/json.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { parseUuid } from '../../domain/uuid.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { OperatedTable } from '../delivery/operated-table.js';

/** `failed`: the last attempt has failed. */
export type ScheduleState = 'pending' | 'running' | 'done' | 'failed' | 'cancelled';

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
export interface ScheduleFilter {
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
  readonly #table: OperatedTable;

  /**
   * @param databases one shard's database, or those of all shards
   * @param changed called when a process may have work to resume
   */
  constructor(
    databases: (shard: ShardIdentifier | undefined) => readonly ShardDatabase[],
    changed: () => void,
  ) {
    this.#table = new OperatedTable(databases, changed);
  }

  /** Lists scheduled actions by next date, on each shard. */
  list(filter: ScheduleFilter = {}): Promise<readonly ScheduledAction[]> {
    const { shard, state, action, limit = 100 } = filter;
    return this.#table.read(
      shard,
      { text: LIST, values: [state ?? null, action ?? null, limit] },
      toScheduledAction,
    );
  }

  /** Lists recurring actions by name, on each shard. @param shard only this shard. Default: all */
  recurring(shard?: ShardIdentifier): Promise<readonly RecurringAction[]> {
    return this.#table.read(shard, { text: RECURRING, values: [] }, toRecurringAction);
  }

  /**
   * Pauses a recurring action, also beyond restarts: its due times pass without a run. A run that has begun continues.
   *
   * @param shard only this shard. Default: all
   * @returns on how many shards it is paused
   */
  pause(action: string, shard?: ShardIdentifier): Promise<number> {
    return this.#table.change(shard, { text: PAUSE, values: [action, true] });
  }

  /** Resumes a recurring action at its next due time. @returns on how many shards it is resumed */
  resume(action: string, shard?: ShardIdentifier): Promise<number> {
    return this.#table.change(shard, { text: PAUSE, values: [action, false] });
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
    return (await this.#table.change(shardOfUuid(parseUuid(id)), { text, values: [id] })) > 0;
  }
}

const RECURRING = `SELECT r.action_name, r.definition ->> 'cron', r.definition ->> 'zone', r.paused, r.next_date, r.last_date,
  s.state FROM eventlog.recurring_actions AS r LEFT JOIN eventlog.schedules AS s ON s.id = r.last_id
ORDER BY r.action_name`;

const PAUSE = 'UPDATE eventlog.recurring_actions SET paused = $2 WHERE action_name = $1';

const LIST = `SELECT id, state, due_date, next_date, action_name, params, principal, action_id, attempts, error_code,
  error_message, completed_date, params_version FROM eventlog.schedules
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

function toRecurringAction(row: readonly unknown[], shard: ShardIdentifier): RecurringAction {
  const [actionName, cron, zone, isPaused, nextDate, lastDate, lastState] = row;
  return {
    shard,
    actionName: String(actionName),
    cron: String(cron),
    zone: String(zone),
    isPaused: isPaused === true,
    nextDate: nextDate as Date,
    lastDate: lastDate === null ? undefined : (lastDate as Date),
    lastState: lastState === null ? undefined : (lastState as ScheduleState),
  };
}

function toScheduledAction(row: readonly unknown[], shard: ShardIdentifier): ScheduledAction {
  const [
    id,
    state,
    due,
    next,
    actionName,
    params,
    principal,
    scheduledBy,
    attempts,
    code,
    message,
    completed,
    paramsVersion,
  ] = row;
  const optional = (value: unknown): string | undefined => (value === null ? undefined : String(value));
  return {
    id: String(id),
    shard,
    state: state as ScheduleState,
    dueDate: due as Date,
    nextDate: next as Date,
    actionName: String(actionName),
    params: params as JsonValue,
    paramsVersion: Number(paramsVersion),
    principal: String(principal),
    scheduledBy: String(scheduledBy),
    attempts: Number(attempts),
    errorCode: optional(code),
    errorMessage: optional(message),
    completedDate: completed === null ? undefined : (completed as Date),
  };
}
