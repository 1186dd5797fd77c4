import { nextDue } from '../../cron.js';
import { insertInto, SCHEDULES } from '../../persistence/write/eventlog-tables.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { type Recurrence, runId, runParams } from './recurrence.js';

/** A recurring action, as it is stored. */
export interface StoredRecurrence {
  readonly actionName: string;
  readonly recurrence: Recurrence;
  readonly nextDate: Date;
  readonly isPaused: boolean;
  /** The last run has neither ended nor failed permanently. */
  readonly isRunning: boolean;
  /** The process that stored the recurrence is gone. */
  readonly isAbandoned: boolean;
  /** The database's time of reading. */
  readonly now: Date;
  /** Changes with each change of the row. */
  readonly version: string;
}

/** The recurring actions of one shard. */
export class RecurrenceStore {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  async read(): Promise<readonly StoredRecurrence[]> {
    const { rows } = await this.#database.query({ text: READ, name: 'fw_recurring', values: [] });
    return rows.map(([actionName, recurrence, nextDate, isPaused, isRunning, isAbandoned, now, version]) => ({
      actionName: String(actionName),
      recurrence: recurrence as unknown as Recurrence,
      nextDate: nextDate as Date,
      isPaused: isPaused === true,
      isRunning: isRunning === true,
      isAbandoned: isAbandoned === true,
      now: now as Date,
      version: String(version),
    }));
  }

  /**
   * Stores recurrences. If cron fields or zone change, the next due time is the first one from now on.
   *
   * @param process that defines them
   * @param since when it started, as an earlier call has returned it. Undefined: it starts, and replaces those of
   *   running processes; later it replaces those of processes that started before it or are gone
   * @returns the time of its start, by the database's clock
   */
  async define(
    process: string,
    recurrences: ReadonlyMap<string, Recurrence>,
    since?: Date,
  ): Promise<Date | undefined> {
    if (recurrences.size === 0) return since;
    const { rows } = await this.#database.query({ text: 'SELECT clock_timestamp()', values: [] });
    const now = rows[0]?.[0] as Date;
    const setDate = since ?? now;
    const defined = [...recurrences].map(([action_name, definition]) => {
      return { action_name, definition, next_date: nextDue(definition, now) };
    });
    const values = [JSON.stringify(defined), process, since === undefined, setDate.toISOString()];
    await this.#database.query({ text: DEFINE, values });
    return setDate;
  }

  /** Removes the recurrence of an action that no running process has. */
  async remove(actionName: string): Promise<void> {
    await this.#database.query({ text: REMOVE, values: [actionName] });
  }

  /**
   * Moves a recurrence to its next due time, unless it has changed since it was read.
   *
   * @param runs whether the present due time has a run
   */
  async advance(
    { actionName, recurrence, nextDate, version }: StoredRecurrence,
    next: Date,
    runs: boolean,
  ): Promise<void> {
    const { paramsVersion, principal } = recurrence;
    const values = [
      ...[actionName, nextDate.toISOString(), version, next.toISOString()],
      runs ? runId(actionName, nextDate, this.#database.shard) : null,
      JSON.stringify(runParams(recurrence, this.#database.shard)),
      ...[paramsVersion, principal],
    ];
    await this.#database.query({ text: ADVANCE, name: 'fw_recur', values });
  }
}

/** A process that starts has no sign of life yet. */
const ABANDONED = `(r.set_date NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp()
  AND NOT EXISTS (SELECT FROM eventlog.delivery_processes AS p WHERE p.id = r.set_by))`;

const READ = `SELECT action_name, definition, next_date, paused,
  EXISTS (SELECT FROM eventlog.schedules AS s WHERE s.id = r.last_id AND s.state IN ('pending', 'running')),
  ${ABANDONED}, clock_timestamp(), xmin::text
FROM eventlog.recurring_actions AS r ORDER BY action_name`;

const DEFINE = `INSERT INTO eventlog.recurring_actions AS r (action_name, definition, next_date, set_by, set_date)
SELECT action_name, definition, next_date, $2, $4::timestamptz
FROM jsonb_to_recordset($1::jsonb) AS d (action_name text, definition jsonb, next_date timestamptz) ORDER BY action_name
ON CONFLICT (action_name) DO UPDATE
SET definition = excluded.definition, set_by = excluded.set_by, set_date = excluded.set_date,
  next_date = CASE WHEN r.definition -> 'cron' = excluded.definition -> 'cron'
    AND r.definition -> 'zone' = excluded.definition -> 'zone' THEN r.next_date ELSE excluded.next_date END
WHERE $3::boolean OR r.set_date < $4::timestamptz OR ${ABANDONED}`;

const REMOVE = `DELETE FROM eventlog.recurring_actions AS r WHERE action_name = $1 AND ${ABANDONED}`;

/** The due time passes in the statement that stores its run, which has no plan: it names itself as the action. */
const ADVANCE = `WITH moved AS (
  UPDATE eventlog.recurring_actions SET next_date = $4::timestamptz, last_id = coalesce($5::uuid, last_id),
    last_date = CASE WHEN $5 IS NULL THEN last_date ELSE next_date END
  WHERE action_name = $1 AND xmin = $3::xid
  RETURNING 1)
${insertInto(SCHEDULES, {
  ...{ id: '$5::uuid', action_id: '$5::uuid', due_date: '$2::timestamptz', next_date: '$2::timestamptz' },
  ...{ action_name: '$1::text', params: '$6::jsonb', params_version: '$7::integer', principal: '$8::text' },
  created_date: 'now()',
})} FROM moved WHERE $5 IS NOT NULL ON CONFLICT DO NOTHING`;
