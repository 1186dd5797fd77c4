import type { JsonObject } from '../../domain/json.js';
import { textArray } from '../../persistence/codec/column-codec.js';
import { isTooLong, leaseEnd } from '../../sharding/lease-sql.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { type LogCursor, toCursor } from '../log/event-record.js';
import type { LogSelection, StatementRunner } from '../log/log-reader.js';

/** The work of a consumer: live delivery to a handler, a replay, or scheduled actions. */
export type ConsumerKind = 'live' | 'replay' | 'schedules';

/** A row of `eventlog.consumers`, as a survey reads it. */
export interface ConsumerState {
  readonly name: string;
  readonly handler: string;
  readonly holder: string | null;
  /** The lease was taken on an earlier server run. It no longer counts, and only its holder may take it again. */
  readonly superseded: boolean;
  /** Fence of the last lease. It also increases when a registration adds to the stored selection. */
  readonly fence: string;
  /** Whether the consumer has no unexpired lease. */
  readonly free: boolean;
}

/** A lease on a consumer, which its fenced statements carry. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** Increases with each take-over, so that statements of an earlier holder have no effect. */
  readonly fence: string;
}

/** The parameters of a replay, stored with its consumer as JSON. */
export interface ReplayOrder {
  /** The handler's original name: part of the keys of its actions. */
  readonly identity: string;
  /** Part of the keys if actions are to be repeated; undefined: actions return their first results. */
  readonly again?: string | undefined;
  /** True: the handler's projection is rebuilt, and replaced at the end. Default false. */
  readonly rebuild?: boolean;
  readonly selection: Pick<LogSelection, 'model' | 'fromPosition' | 'fromDate' | 'until'>;
}

/** The stored state from which the holder of a new lease starts. */
export interface LeasedConsumer {
  readonly lease: Lease;
  readonly identity: string;
  readonly cursor: LogCursor;
  readonly replay: ReplayOrder | undefined;
  /** Everything that registrations of this consumer have selected: see `selectionItems`. */
  readonly selects: readonly string[];
  /**
   * The server run on which the lease was taken: its timeline, a slash, and its start time. State read from another run
   * must not be combined with it: an asynchronous standby that was promoted may lack the last transactions and reuse
   * their ids.
   */
  readonly serverRun: string;
  /** The previous holder vanished without progress. */
  readonly stuck: boolean;
  /** Attempts by event, as previous holders stored them. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Events whose attempts were in progress when the previous holder vanished. */
  readonly died: readonly string[];
}

/** Attempts as a holder of the lease stores them for the next one. */
export interface StoredAttempts {
  /** By event: failed attempts that count, and the open one. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Events whose attempts are in progress. */
  readonly open: readonly string[];
}

/** The state of a shard in one query: consumers, and the live processes with the handlers that they know. */
export interface ShardSurvey {
  readonly consumers: readonly ConsumerState[];
  readonly processes: readonly { readonly id: string; readonly handlers: readonly string[] }[];
  /** Timeline and start time of the server. */
  readonly serverRun: string;
  /** Names of consumers whose lease was renewed. A consumer whose row is locked is left out. */
  readonly renewed: readonly string[];
}

/** The checkpoints and leases of one shard. */
export class ConsumerStore {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** Records that this process is alive, renews its leases, and reads the state of the shard. */
  async survey(
    process: string,
    handlers: readonly string[],
    leaseMs: number,
    held: readonly Lease[],
  ): Promise<ShardSurvey> {
    const names = textArray(held.map(({ name }) => name));
    const values = [process, textArray(handlers), leaseMs, names];
    const { rows } = await this.#database.query({ text: SURVEY, name: 'fw_survey', values });
    const [consumers, processes, renewed, serverRun] = rows[0] ?? [];
    // `SURVEY` makes them from the columns of the tables.
    return {
      consumers: (consumers ?? []) as readonly ConsumerState[],
      processes: (processes ?? []) as ShardSurvey['processes'],
      renewed: (renewed ?? []) as readonly string[],
      serverRun: String(serverRun),
    };
  }

  /** Takes a free lease. Undefined if another process was faster. */
  async acquire(name: string, process: string, leaseMs: number): Promise<LeasedConsumer | undefined> {
    const values = [name, process, leaseMs];
    const { rows } = await this.#database.query({ text: ACQUIRE, name: 'fw_acquire', values });
    const [row] = rows;
    if (row === undefined) return undefined;
    const [fence, identity, replay, stuck, suspects, vanished, serverRun, selects, ...cursor] = row;
    return {
      lease: { name, holder: process, fence: String(fence) },
      identity: String(identity),
      cursor: toCursor(cursor),
      // `Replays` has stored it.
      replay: replay === null ? undefined : (replay as unknown as ReplayOrder),
      selects: selects as readonly string[],
      serverRun: String(serverRun),
      stuck: stuck === true,
      ...inherited(suspects as JsonObject, vanished === true),
    };
  }

  /**
   * The stored checkpoint, and whether the server is not the one on which the lease was taken, or was restarted.
   * Undefined if the lease has been lost.
   */
  async readState({
    name,
    holder,
    fence,
  }: Lease): Promise<{ readonly cursor: LogCursor; readonly superseded: boolean } | undefined> {
    const values = [name, holder, fence];
    const { rows } = await this.#database.query({ text: CURSOR, name: 'fw_cursor', values });
    const [row] = rows;
    return row === undefined ? undefined : { cursor: toCursor(row), superseded: row[3] !== true };
  }

  /**
   * Moves the checkpoint and renews the lease; the survey skips a locked row, and the row of a busy consumer often is
   * locked. False if the lease has been lost, or the checkpoint is not at `from`: after a cut connection, a statement
   * or COMMIT may reach the server after its sender gave it up, under the same lease.
   *
   * @param on the transaction that the statement belongs to
   */
  async checkpoint(
    { name, holder, fence }: Lease,
    { from, to }: { readonly from: LogCursor; readonly to: LogCursor },
    leaseMs: number,
    on: StatementRunner = this.#database,
  ): Promise<boolean> {
    const values = [name, holder, fence, ...cursorValues(to), leaseMs, ...cursorValues(from)];
    const { rowCount } = await on.query({ text: CHECKPOINT, name: 'fw_checkpoint', values });
    return rowCount > 0;
  }

  /**
   * Stores attempts, and renews the lease, because the survey skips this row while it is locked. False if the lease has
   * been lost.
   */
  storeAttempts(lease: Lease, notes: StoredAttempts, leaseMs: number): Promise<boolean> {
    const isEmpty = Object.keys(notes.attempts).length === 0;
    return this.#change(NOTE, lease, [isEmpty ? '{}' : JSON.stringify(notes), leaseMs]);
  }

  /** Records what prevents the consumer from working under its lease. False if the lease has been lost. */
  noteObstacle(lease: Lease, obstacle: string | undefined): Promise<boolean> {
    return this.#change(OBSTACLE, lease, [obstacle ?? null]);
  }

  /**
   * Releases a lease.
   *
   * @param end `finished`: a replay has ended for good. `halted`: no process takes it until `resume`. `waiting`: another
   *   process may continue, for the reason that operators see
   */
  async release(
    lease: Lease,
    end:
      | { readonly kind: 'stopped' | 'superseded' | 'finished' }
      | { readonly kind: 'waiting' | 'halted'; readonly reason: string },
  ): Promise<void> {
    await this.#change(RELEASE, lease, [end.kind, 'reason' in end ? end.reason : null]);
  }

  async leave(process: string): Promise<void> {
    await this.#database.query({
      text: 'DELETE FROM eventlog.delivery_processes WHERE id = $1',
      values: [process],
    });
  }

  async #change(text: string, { name, holder, fence }: Lease, values: readonly unknown[]): Promise<boolean> {
    const { rowCount } = await this.#database.query({ text, values: [name, holder, fence, ...values] });
    return rowCount > 0;
  }
}

/** A holder that released its lease, or is still alive, did not die of an open attempt, which then does not count. */
function inherited(notes: JsonObject, vanished: boolean): Pick<LeasedConsumer, 'attempts' | 'died'> {
  const { attempts = {}, open = [] } = notes as unknown as Partial<StoredAttempts>;
  if (vanished) return { attempts, died: open };
  const counted = Object.entries(attempts).map(([id, n]) => [id, open.includes(id) ? n - 1 : n] as const);
  return { attempts: Object.fromEntries(counted.filter(([, n]) => n > 0)), died: [] };
}

function cursorValues({ epoch, transactionId, position }: LogCursor): readonly unknown[] {
  return [epoch, transactionId, position];
}

/**
 * Skips rows that a checkpoint has locked instead of waiting; the next survey follows soon. Cuts leases that a clock which
 * was set back has made too long, and does not count signs of life from its future. Deletes processes that sent
 * no sign of life for a minute.
 */
const SURVEY = `WITH alive AS (
  INSERT INTO eventlog.delivery_processes (id, handlers, heartbeat) VALUES ($1, $2::text[], clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET heartbeat = excluded.heartbeat, handlers = excluded.handlers),
gone AS (
  DELETE FROM eventlog.delivery_processes WHERE id <> $1 AND heartbeat
    NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp() + interval '1 minute'),
mine AS (
  SELECT name FROM eventlog.consumers WHERE holder = $1 AND name = ANY ($4::text[]) FOR NO KEY UPDATE SKIP LOCKED),
renewed AS (
  UPDATE eventlog.consumers AS c SET leased_until = ${leaseEnd('$3')}
  FROM mine WHERE c.name = mine.name RETURNING c.name),
too_long AS (
  SELECT name FROM eventlog.consumers WHERE ${isTooLong('leased_until', 'lease_ms')}
    AND NOT (holder = $1 AND name = ANY ($4::text[])) FOR NO KEY UPDATE SKIP LOCKED),
cut AS (
  UPDATE eventlog.consumers AS c SET leased_until = ${leaseEnd('lease_ms')}
  FROM too_long WHERE c.name = too_long.name)
SELECT
  (SELECT jsonb_agg(jsonb_build_object('name', name, 'handler', handler, 'holder', holder,
     'fence', fence::text, 'superseded', leased_on IS NOT NULL AND leased_on <> s.run,
     'free', halted IS NULL AND (leased_until IS NULL OR leased_until < clock_timestamp()
       OR (holder IS NOT DISTINCT FROM $1 AND leased_on IS NOT NULL AND leased_on <> s.run))) ORDER BY name)
   FROM eventlog.consumers CROSS JOIN (SELECT eventlog.server_run() AS run) AS s WHERE finished_date IS NULL),
  (SELECT jsonb_agg(jsonb_build_object('id', id, 'handlers', handlers))
   FROM eventlog.delivery_processes WHERE id <> $1
     AND heartbeat BETWEEN clock_timestamp() - $3 * interval '1 ms' AND clock_timestamp()),
  (SELECT jsonb_agg(name) FROM renewed), eventlog.server_run()`;

/**
 * A holder that releases its lease clears its name. A holder that is still named has vanished, unless it is this
 * process, or has given a sign of life since the lease expired: a server that was down or unreachable lets leases
 * expire without ending any process.
 */
const VANISHED = `(holder IS NOT NULL AND holder <> $2 AND NOT EXISTS (
  SELECT FROM eventlog.delivery_processes AS p WHERE p.id = holder AND p.heartbeat BETWEEN leased_until AND clock_timestamp()))`;

const ACQUIRE = `UPDATE eventlog.consumers AS c SET
  vanished = ${VANISHED}, stuck = ${VANISHED} AND started_position = position, started_position = position,
  holder = $2, fence = fence + 1, waiting_for = NULL, leased_on = eventlog.server_run(),
  leased_until = ${leaseEnd('$3')}, lease_ms = $3
WHERE name = $1 AND finished_date IS NULL AND halted IS NULL AND (leased_until IS NULL OR leased_until < clock_timestamp()
  OR (holder = $2 AND leased_on <> eventlog.server_run()))
RETURNING fence, identity, replay, stuck, suspects, vanished, leased_on,
  coalesce((SELECT o.selects FROM eventlog.consumers AS o WHERE o.name = c.handler AND o.kind = 'live'), '{}'),
  epoch, transaction_id, position`;

/**
 * A lease counts on the server run on which it was taken. After a failover its row may be older than its holder's
 * state, and name, holder and fence may still match.
 */
export const HOLDS = 'name = $1 AND holder = $2 AND fence = $3 AND leased_on = eventlog.server_run()';

const NOTE =
  `UPDATE eventlog.consumers SET suspects = $4::jsonb, leased_until = ${leaseEnd('$5')} ` + `WHERE ${HOLDS}`;

const CURSOR =
  'SELECT epoch, transaction_id, position, leased_on = eventlog.server_run() FROM eventlog.consumers ' +
  'WHERE name = $1 AND holder = $2 AND fence = $3';

const CHECKPOINT =
  'UPDATE eventlog.consumers SET epoch = $4, transaction_id = $5::xid8, position = $6, ' +
  `checkpoint_date = clock_timestamp(), leased_until = ${leaseEnd('$7')} ` +
  `WHERE ${HOLDS} AND epoch = $8 AND transaction_id = $9::xid8 AND position = $10`;

const OBSTACLE = `UPDATE eventlog.consumers SET waiting_for = $4 WHERE ${HOLDS}`;

const RELEASE = `UPDATE eventlog.consumers SET leased_until = NULL, holder = NULL,
  finished_date = CASE WHEN $4 = 'finished' THEN clock_timestamp() END,
  halted = CASE WHEN $4 = 'halted' THEN $5::text END, waiting_for = CASE WHEN $4 = 'waiting' THEN $5::text END
WHERE ${HOLDS}`;
