import type { JsonObject } from '../../domain/json.js';
import { storedText } from '../../domain/storable-text.js';
import { isTraceParent } from '../../domain/trace-parent.js';
import { textArray } from '../../persistence/codec/column-codec.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { HOLDS, type Lease } from '../delivery/consumer-store.js';
import * as column from '../log/columns.js';

export interface DueAction {
  readonly id: string;
  readonly actionName: string;
  readonly params: JsonObject;
  /** Version of the stored params. */
  readonly paramsVersion: number;
  readonly principal: string;
  /** The principal's claims; null if it has none. */
  readonly claims: JsonObject | null;
  readonly traceContext: string | undefined;
  /** Failed attempts so far. */
  readonly attempts: number;
  /** The action was already running: under a holder that is gone, or in this process, which could not store its outcome. */
  readonly isLeftBehind: boolean;
}

export interface UpcomingSchedules {
  /** Milliseconds until the next action that this process knows is due; undefined if there is none. */
  readonly dueMs: number | undefined;
  /** A due action that this process does not know, or not in this version of its params; undefined if there is none. */
  readonly newer: { readonly actionName: string; readonly paramsVersion: number } | undefined;
  /** Whether the shard has recurring actions. */
  readonly hasRecurring: boolean;
}

/** The scheduled actions of one shard, for the holder of the lease. */
export class ScheduleStore {
  readonly #database: ShardDatabase;
  /** Names and versions as array literals. */
  readonly #versions: readonly [string, string];

  /** @param versions params versions by name, of every action that this process knows */
  constructor(database: ShardDatabase, versions: ReadonlyMap<string, number>) {
    this.#database = database;
    this.#versions = [textArray([...versions.keys()]), textArray([...versions.values()].map(String))];
  }

  /**
   * Claims due actions: they can no longer be cancelled. Unknown actions, and params of a newer version, are left to
   * newer processes. Empty if the lease has been lost.
   *
   * @param running ids that this process has claimed and still executes: they are not left behind
   * @param looksBehind whether actions may have been left behind: a search reads all that are due
   */
  async claim(
    { name, holder, fence }: Lease,
    limit: number,
    { running, looksBehind }: { readonly running: readonly string[]; readonly looksBehind: boolean },
  ): Promise<readonly DueAction[]> {
    const values = [name, holder, fence, limit, ...this.#versions, idArray(running), looksBehind];
    const { rows } = await this.#database.query({ text: CLAIM, name: 'fw_claim_due', values });
    return rows.map((row) => column.read(DUE, row));
  }

  /** The next due actions. @param running ids that this process executes */
  async upcoming(running: readonly string[]): Promise<UpcomingSchedules> {
    const { rows } = await this.#database.query({
      text: NEXT,
      name: 'fw_next_due',
      values: [...this.#versions, idArray(running)],
    });
    const [dueMs, actionName, paramsVersion, hasRecurring] = rows[0] ?? [];
    return {
      dueMs: dueMs === null || dueMs === undefined ? undefined : Math.max(0, Number(dueMs)),
      newer:
        typeof actionName === 'string' ? { actionName, paramsVersion: Number(paramsVersion) } : undefined,
      hasRecurring: hasRecurring === true,
    };
  }

  async done(id: string): Promise<void> {
    await this.#database.query({ text: DONE, name: 'fw_due_done', values: [id] });
  }

  /**
   * Stores a failed attempt, unless another process has claimed the action since.
   *
   * @param error its `attempts` are the failed attempts that count
   * @param retryMs milliseconds until the next attempt; undefined: no further attempt
   */
  async failed(
    { id, attempts }: Pick<DueAction, 'id' | 'attempts'>,
    error: { readonly attempts: number; readonly code: string; readonly message: string },
    retryMs: number | undefined,
  ): Promise<void> {
    const { code, message } = error;
    const texts = [storedText(code), storedText(message)];
    const values = [id, ...texts, retryMs ?? null, attempts, error.attempts];
    await this.#database.query({ text: FAILED, name: 'fw_due_failed', values });
  }
}

function idArray(ids: readonly string[]): string {
  return `{${ids.join(',')}}`;
}

/** Whether this process knows a row's action, in the version of its params. */
function isKnown(names: string, versions: string): string {
  return (
    `(params_version <= coalesce((SELECT k.version FROM unnest(${names}::text[], ${versions}::int[]) AS k(name, version) ` +
    'WHERE k.name = action_name), 0))'
  );
}

const DUE: column.Columns<DueAction> = {
  id: column.text('s.id'),
  actionName: column.text('s.action_name'),
  params: column.raw('s.params'),
  paramsVersion: column.numeric('s.params_version'),
  principal: column.text('s.principal'),
  claims: column.raw('s.claims'),
  traceContext: {
    sql: 's.trace_context',
    read: (value) => (typeof value === 'string' && isTraceParent(value) ? value : undefined),
  },
  attempts: column.numeric('s.attempts'),
  isLeftBehind: column.flag('d.is_left_behind'),
};

/**
 * An action that is running, but not in this process, belongs to a holder that is gone: its lease has expired, and the
 * action's key limits it to one effect. It may have crashed the holder, so it counts as an attempt and runs alone. The
 * action with the fewest attempts comes first, so that others finish before the one that crashes fails permanently.
 */
const CLAIM = `WITH held AS MATERIALIZED (
  SELECT FROM eventlog.consumers WHERE ${HOLDS} FOR NO KEY UPDATE),
left_behind AS MATERIALIZED (SELECT id FROM eventlog.schedules
  WHERE $8::boolean AND state = 'running' AND next_date <= clock_timestamp() AND ${isKnown('$5', '$6')} AND EXISTS (SELECT FROM held)
    AND id <> ALL ($7::uuid[])
  ORDER BY attempts, next_date LIMIT 1 FOR UPDATE SKIP LOCKED),
due AS MATERIALIZED (SELECT id FROM eventlog.schedules
  WHERE state = 'pending' AND next_date <= clock_timestamp() AND ${isKnown('$5', '$6')} AND EXISTS (SELECT FROM held)
    AND NOT EXISTS (SELECT FROM left_behind) AND id <> ALL ($7::uuid[])
  ORDER BY next_date LIMIT $4 FOR UPDATE SKIP LOCKED)
UPDATE eventlog.schedules AS s SET state = 'running',
  attempts = attempts + (state = 'running')::int
FROM (SELECT id, true AS is_left_behind FROM left_behind UNION ALL SELECT id, false FROM due) AS d WHERE s.id = d.id
RETURNING ${column.list(DUE)}`;

/** Both parts scan the index of due actions from its beginning, and end at the first matching row. */
const NEXT = `SELECT extract(epoch FROM (SELECT min(next_date) FROM eventlog.schedules
    WHERE state IN ('pending', 'running') AND id <> ALL ($3::uuid[]) AND ${isKnown('$1', '$2')}) - clock_timestamp()) * 1000,
  n.action_name, n.params_version, EXISTS (SELECT FROM eventlog.recurring_actions)
FROM (SELECT) AS one LEFT JOIN LATERAL (SELECT action_name, params_version FROM eventlog.schedules
  WHERE state IN ('pending', 'running') AND next_date <= clock_timestamp() AND NOT ${isKnown('$1', '$2')}
  ORDER BY next_date LIMIT 1) AS n ON true`;

const DONE = `UPDATE eventlog.schedules SET state = 'done', completed_date = clock_timestamp(), attempts = attempts + 1
WHERE id = $1 AND state = 'running'`;

/** The attempts must match: a later claim of an action that was left behind has counted an attempt. */
const FAILED = `UPDATE eventlog.schedules SET attempts = $6, error_code = $2, error_message = $3,
  state = CASE WHEN $4::double precision IS NULL THEN 'failed' ELSE 'pending' END,
  completed_date = CASE WHEN $4::double precision IS NULL THEN clock_timestamp() END,
  next_date = clock_timestamp() + coalesce($4::double precision, 0) * interval '1 ms'
WHERE id = $1 AND state = 'running' AND attempts = $5`;
