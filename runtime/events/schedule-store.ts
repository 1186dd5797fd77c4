import type { JsonObject } from '../domain/json.js';
import { storedText } from '../domain/storable-text.js';
import { isTraceParent } from '../domain/trace-parent.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { HOLDS, type Lease } from './consumer-store.js';

/** A scheduled action that is due. */
export interface DueAction {
  readonly id: string;
  readonly actionName: string;
  readonly params: JsonObject;
  readonly principal: string;
  readonly traceContext: string | undefined;
  /** Failed attempts so far. */
  readonly attempts: number;
}

/** The scheduled actions of one shard, as the holder of the lease uses them. */
export class ScheduleStore {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /**
   * Claims what is due: from now on it cannot be cancelled. Empty if the lease has been lost.
   *
   * @param unsettled ids that this process has claimed before, whose outcome it could not store: it did not die of them
   */
  async claim(lease: Lease, limit: number, unsettled: readonly string[] = []): Promise<readonly DueAction[]> {
    const values = [lease.name, lease.holder, lease.fence, limit, `{${unsettled.join(',')}}`];
    const { rows } = await this.#database.query({ text: CLAIM, name: 'fw_claim_due', values });
    return rows.map(([id, actionName, params, principal, traceContext, attempts]) => ({
      id: String(id),
      actionName: String(actionName),
      params: params as JsonObject,
      principal: String(principal),
      traceContext:
        typeof traceContext === 'string' && isTraceParent(traceContext) ? traceContext : undefined,
      attempts: Number(attempts),
    }));
  }

  /** Milliseconds until the next one is due; undefined if there is none. */
  async nextDueMs(): Promise<number | undefined> {
    const { rows } = await this.#database.query({ text: NEXT, name: 'fw_next_due', values: [] });
    const value = rows[0]?.[0];
    return value === null || value === undefined ? undefined : Math.max(0, Number(value));
  }

  async done(id: string): Promise<void> {
    await this.#database.query({ text: DONE, name: 'fw_due_done', values: [id] });
  }

  /**
   * Stores a failed attempt, unless another process has claimed the action since.
   *
   * @param error its `attempts` are those that have failed and count
   * @param retryMs until the next attempt; undefined: there is none
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

/**
 * One that is running belongs to a holder that is gone: the lease says so, and its key keeps it to one effect. It may
 * be what the holder died of, so it counts as an attempt, and it is tried alone; the one that was tried least comes
 * first, so that those that were only near by are done before the culprit is given up.
 */
const CLAIM = `WITH held AS MATERIALIZED (
  SELECT FROM eventlog.consumers WHERE ${HOLDS} FOR NO KEY UPDATE),
left_behind AS MATERIALIZED (SELECT id FROM eventlog.schedules
  WHERE state = 'running' AND next_date <= clock_timestamp() AND EXISTS (SELECT FROM held)
  ORDER BY attempts, next_date LIMIT 1 FOR UPDATE SKIP LOCKED),
due AS MATERIALIZED (SELECT id FROM eventlog.schedules
  WHERE state = 'pending' AND next_date <= clock_timestamp() AND EXISTS (SELECT FROM held)
    AND NOT EXISTS (SELECT FROM left_behind)
  ORDER BY next_date LIMIT $4 FOR UPDATE SKIP LOCKED)
UPDATE eventlog.schedules AS s SET state = 'running', 
  attempts = attempts + (state = 'running' AND s.id <> ALL ($5::uuid[]))::int
FROM (SELECT id FROM left_behind UNION ALL SELECT id FROM due) AS d WHERE s.id = d.id
RETURNING s.id, s.action_name, s.params, s.principal, s.trace_context, s.attempts`;

const NEXT = `SELECT extract(epoch FROM min(next_date) - clock_timestamp()) * 1000
FROM eventlog.schedules WHERE state IN ('pending', 'running')`;

const DONE = `UPDATE eventlog.schedules SET state = 'done', completed_date = clock_timestamp(), attempts = attempts + 1
WHERE id = $1 AND state = 'running'`;

/** A later claim of an action that is left behind has counted an attempt. */
const FAILED = `UPDATE eventlog.schedules SET attempts = $6, error_code = $2, error_message = $3,
  state = CASE WHEN $4::double precision IS NULL THEN 'failed' ELSE 'pending' END,
  completed_date = CASE WHEN $4::double precision IS NULL THEN clock_timestamp() END,
  next_date = clock_timestamp() + coalesce($4::double precision, 0) * interval '1 ms'
WHERE id = $1 AND state = 'running' AND attempts = $5`;
