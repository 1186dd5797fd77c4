import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { type Failover, FailoverRegister } from '../sharding/failover-register.js';
import { findForeignLog } from '../sharding/log-server.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import type { ConsumerKind } from './delivery/consumer-store.js';
import * as column from './log/columns.js';
import { type Horizon, readHorizon } from './log/horizon.js';

/** The progress of one consumer on one shard. */
export interface ConsumerLag {
  /** The handler's name; for a replay with a number: `Name#1a2b3c4d`. */
  readonly name: string;
  readonly handler: string;
  readonly kind: ConsumerKind;
  /** The process that holds the lease, if any. */
  readonly holder: string | undefined;
  /**
   * The reason why it waits: a log that another server has written; an event of a version or a saga in a step that no
   * running process knows, a stored selection that no running process covers, a receiver that accepts no messages, or
   * the next attempt at an event that has failed more than once; or processes that do not have it, if others run. Begins
   * with `halted: ` if an operator must resume it.
   */
  readonly waitingFor: string | undefined;
  /** Events of any type after its checkpoint, counted up to 10,000. */
  readonly behind: number;
  /** Age of the oldest of them, in milliseconds; 0 if there are none. */
  readonly behindMs: number;
  /** Dead letters and the events that wait behind them. */
  readonly deadLetters: number;
  readonly parkedModels: number;
}

/** The runs of one saga that have not ended, on one shard. */
export interface SagaLag {
  readonly saga: string;
  readonly running: number;
  /** Runs that wait for an operator. */
  readonly parked: number;
  /** Age of the oldest run, in milliseconds. */
  readonly oldestMs: number;
}

/** Delivery on one shard. */
export interface ShardLag {
  readonly shard: ShardIdentifier;
  readonly horizon: Horizon;
  /** Scheduled actions that are due and have not ended. */
  readonly dueActions: number;
  /** What they wait for: an action that no running process knows, or a rebase; undefined if for nothing. */
  readonly actionsWaitFor: string | undefined;
  /** Scheduled actions that have failed permanently. */
  readonly failedActions: number;
  /** Unacknowledged failovers: events that the new server had not received are lost. */
  readonly failovers: readonly Failover[];
  readonly consumers: readonly ConsumerLag[];
  readonly sagas: readonly SagaLag[];
}

/** The progress of delivery on one shard, and what delays it. */
export async function readLag(database: ShardDatabase): Promise<ShardLag> {
  const [foreignLog, horizon, { rows }, schedules, sagas, failovers] = await Promise.all([
    findForeignLog(database),
    readHorizon(database),
    database.query({ text: LAG, values: [] }),
    database.query({ text: SCHEDULES, values: [] }),
    database.query({ text: SAGAS, values: [] }),
    new FailoverRegister(database).unacknowledged(),
  ]);
  const [due, failed, waitFor] = schedules.rows[0] ?? [];
  const actionsWaitFor = waitFor ?? (Number(due) > 0 ? foreignLog?.message : undefined);
  // Delivery does not start on another server, so no process has recorded the reason.
  const stopped = foreignLog === undefined ? {} : { waitingFor: foreignLog.message };
  return {
    shard: database.shard,
    horizon,
    dueActions: Number(due),
    failedActions: Number(failed),
    actionsWaitFor: typeof actionsWaitFor === 'string' ? actionsWaitFor : undefined,
    failovers,
    consumers: rows.map((row) => ({ ...column.read(CONSUMER, row), ...stopped })),
    sagas: sagas.rows.map((row) => column.read(SAGA, row)),
  };
}

/** Processes deliver, but none that has the handler. While none delivers, as between two starts, nothing is wrong. */
const IS_UNKNOWN = `coalesce(c.leased_until < clock_timestamp(), true) AND (SELECT NOT bool_or(c.handler = ANY (p.handlers))
  FROM eventlog.delivery_processes AS p WHERE p.heartbeat > clock_timestamp() - interval '1 minute')`;

const CONSUMER: column.Columns<ConsumerLag> = {
  name: column.text('c.name'),
  handler: column.text('c.handler'),
  kind: column.raw('c.kind'),
  holder: column.optional(column.text('CASE WHEN c.leased_until > clock_timestamp() THEN c.holder END')),
  waitingFor: column.optional(
    column.text(`coalesce('halted: ' || c.halted, c.waiting_for, CASE WHEN ${IS_UNKNOWN}
    THEN 'no running process has it; if it was removed, delete its row in eventlog.consumers' END)`),
  ),
  behind: column.numeric('coalesce(b.behind, 0)'),
  behindMs: column.ageMs('b.oldest'),
  deadLetters: column.numeric('d.letters'),
  parkedModels: column.numeric('d.models'),
};

/** Each part of the union is the beginning of an index scan, or empty. With one condition for both, all events are read. */
const LAG = `SELECT ${column.list(CONSUMER)}
FROM eventlog.consumers AS c
LEFT JOIN eventlog.delivery_epochs AS m ON m.epoch = c.epoch
LEFT JOIN eventlog.delivery_epochs AS n ON n.epoch = c.epoch + 1
LEFT JOIN LATERAL (SELECT count(*) AS behind, min(created_date) AS oldest FROM (
  (SELECT e.created_date FROM eventlog.events AS e
    WHERE n.epoch IS NULL AND (e.transaction_id, e.position) > (c.transaction_id, c.position)
      AND e.position > coalesce(m.after_position, 0)
    ORDER BY e.transaction_id, e.position LIMIT 10000)
  UNION ALL (SELECT e.created_date FROM eventlog.events AS e
    WHERE n.epoch IS NOT NULL AND e.position > n.after_position LIMIT 10000)
  ) AS e) AS b ON c.kind = 'live' OR c.replay @> '{"rebuild": true}'
CROSS JOIN LATERAL (SELECT count(*) AS letters, count(DISTINCT (model_name, model_id)) AS models
  FROM eventlog.dead_letters WHERE consumer = c.name AND state <> 'discarded') AS d
WHERE c.finished_date IS NULL AND c.kind <> 'schedules' ORDER BY c.name`;

const SAGA: column.Columns<SagaLag> = {
  saga: column.text('saga'),
  running: column.numeric("count(*) FILTER (WHERE state = 'RUNNING')"),
  parked: column.numeric("count(*) FILTER (WHERE state = 'PARKED')"),
  oldestMs: column.ageMs('min(created_date)'),
};

const SAGAS = `SELECT ${column.list(SAGA)}
FROM eventlog.sagas WHERE state <> 'ENDED' GROUP BY saga ORDER BY saga`;

/** Actions that are done stay in the table until retention deletes them: each part reads a partial index instead. */
const SCHEDULES = `SELECT
  (SELECT count(*) FROM eventlog.schedules WHERE state IN ('pending', 'running') AND due_date <= clock_timestamp()),
  (SELECT count(*) FROM eventlog.schedules WHERE state = 'failed'),
  (SELECT waiting_for FROM eventlog.consumers WHERE name = '#schedules')`;
