import { isDeepStrictEqual } from 'node:util';
import { nextDue } from '../../cron.js';
import { insertInto, SCHEDULES } from '../../persistence/write/eventlog-tables.js';
import { databaseTime } from '../../sharding/database-time.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import * as column from '../log/columns.js';
import { type Recurrence, runId, runParams } from './recurrence.js';

/** Time after which a due time without a run counts as missed, in milliseconds: longer than a take-over. */
const MISSED_AFTER_MS = 60_000;

export interface StoredRecurrence {
  readonly actionName: string;
  readonly recurrence: Recurrence;
  readonly nextDate: Date;
  readonly isPaused: boolean;
  /** The last run has neither ended nor failed permanently. */
  readonly isRunning: boolean;
  /** The process that stored the recurrence is gone. */
  readonly isAbandoned: boolean;
  /** The process that stored the recurrence gave a sign of life in the last seconds. */
  readonly isInUse: boolean;
  /** The database's time of reading. */
  readonly now: Date;
  /** Changes with each change of the row. */
  readonly version: string;
}

/**
 * Turns the due times of the recurring actions of one shard into scheduled actions.
 *
 * A process stores its recurrences when it starts, and the lease's holder follows the stored ones. So the process that
 * started last decides, also while another release holds the lease. Once it is gone, the holder's own ones are stored.
 */
export class RecurringWork {
  readonly #database: ShardDatabase;
  readonly #own: ReadonlyMap<string, Recurrence>;
  /** When this process started, by the database's clock. */
  #since: Date | undefined;
  /** Whether a due time waits for the end of the previous run. */
  isHeldUp = false;

  /** @param all the recurrences of this process @param isDefaultShard whether those for one shard belong to this one */
  constructor(database: ShardDatabase, all: ReadonlyMap<string, Recurrence>, isDefaultShard: boolean) {
    this.#database = database;
    this.#own = new Map([...all].filter(([, { on }]) => on === 'each-shard' || isDefaultShard));
  }

  /** Stores the recurrences of a process that starts, and again after a failover, which may have lost them. */
  register(process: string): Promise<void> {
    return this.#define(process, this.#own);
  }

  /**
   * Stores the runs that are due. Needs the lease.
   *
   * @param isEmpty whether the shard has no recurring action
   * @returns milliseconds until it may have work again; 0 if runs may have been stored
   */
  async round(process: string, isEmpty: boolean): Promise<number> {
    if (isEmpty && this.#own.size === 0) return Number.POSITIVE_INFINITY;
    const all = await this.stored();
    const stored = new Map(all.map((each) => [each.actionName, each]));
    const lacking = [...this.#own].filter(([name, own]) => mustDefine(own, stored.get(name)));
    if (lacking.length > 0) {
      await this.#define(process, new Map(lacking));
      return 0;
    }
    this.isHeldUp = false;
    return Math.min(...(await Promise.all(all.map((each) => this.#follow(each)))));
  }

  async stored(): Promise<readonly StoredRecurrence[]> {
    const { rows } = await this.#database.query({ text: READ, name: 'fw_recurring', values: [] });
    return rows.map((row) => column.read(STORED, row));
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

  /**
   * Actions that only another release knows have runs, too, which wait for a process that knows them: one that has
   * stopped would leave its run to no process.
   */
  async #follow(stored: StoredRecurrence): Promise<number> {
    const { actionName, recurrence, nextDate, now, isPaused, isRunning, isAbandoned, isInUse } = stored;
    const isKnown = this.#own.has(actionName);
    if (isAbandoned && !isKnown) {
      await this.#database.query({ text: REMOVE, values: [actionName] });
      return 0;
    }
    const { missed, overlap } = recurrence;
    const lateMs = now.getTime() - nextDate.getTime();
    if (lateMs < 0) return -lateMs;
    if (!isKnown && !isInUse) return Number.POSITIVE_INFINITY;
    const runs = !isPaused && !(missed === 'skip' && lateMs > MISSED_AFTER_MS);
    if (runs && isRunning && !overlap) {
      this.isHeldUp = true;
      return Number.POSITIVE_INFINITY;
    }
    await this.advance(stored, nextDue(recurrence, runs && missed === 'each' ? nextDate : now), runs);
    return 0;
  }

  /**
   * Stores recurrences. If cron fields or zone change, the next due time is the first one from now on. At the start of
   * this process they replace those of running processes, later those of processes that started before it or are gone.
   */
  async #define(process: string, recurrences: ReadonlyMap<string, Recurrence>): Promise<void> {
    if (recurrences.size === 0) return;
    const now = await databaseTime(this.#database);
    const isStart = this.#since === undefined;
    const setDate = this.#since ?? now;
    const defined = [...recurrences].map(([action_name, definition]) => {
      return { action_name, definition, next_date: nextDue(definition, now) };
    });
    const values = [JSON.stringify(defined), process, isStart, setDate.toISOString()];
    await this.#database.query({ text: DEFINE, values });
    this.#since = setDate;
  }
}

function mustDefine(own: Recurrence, stored: StoredRecurrence | undefined): boolean {
  return stored === undefined || (stored.isAbandoned && !isDeepStrictEqual(stored.recurrence, own));
}

/** A process that starts has no sign of life yet. */
const ABANDONED = `(r.set_date NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp()
  AND NOT EXISTS (SELECT FROM eventlog.delivery_processes AS p WHERE p.id = r.set_by))`;

const STORED: column.Columns<StoredRecurrence> = {
  actionName: column.text('action_name'),
  recurrence: column.raw('definition'),
  nextDate: column.raw('next_date'),
  isPaused: column.flag('paused'),
  isRunning: column.flag(
    "EXISTS (SELECT FROM eventlog.schedules AS s WHERE s.id = r.last_id AND s.state IN ('pending', 'running'))",
  ),
  isAbandoned: column.flag(ABANDONED),
  isInUse: column.flag(`EXISTS (SELECT FROM eventlog.delivery_processes AS p WHERE p.id = r.set_by
    AND p.heartbeat > clock_timestamp() - interval '10 seconds')`),
  now: column.raw('clock_timestamp()'),
  version: column.text('xmin::text'),
};

const READ = `SELECT ${column.list(STORED)} FROM eventlog.recurring_actions AS r ORDER BY action_name`;

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
