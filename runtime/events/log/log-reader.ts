import type { JsonObject } from '../../domain/json.js';
import { textArray } from '../../persistence/codec/column-codec.js';
import type { ShardDatabase, Statement } from '../../sharding/shard-database.js';
import { requireServer } from './epochs.js';
import { type LogCursor, type LoggedEvent, START_OF_LOG } from './event-record.js';

/** Runs statements: a database, or a transaction on it. */
export type StatementRunner = Pick<ShardDatabase, 'query'>;

/** Selects the events that a reader returns. */
export interface LogSelection {
  /** Names of event types. Undefined: all. */
  readonly eventTypes?: readonly string[] | undefined;
  /** Names of models. Undefined: all. */
  readonly modelNames?: readonly string[] | undefined;
  /** Names of models whose events are excluded. Default none. */
  readonly exceptModels?: readonly string[] | undefined;
  /** Only events of this model. */
  readonly model?: { readonly name: string; readonly id: string } | undefined;
  /** Only events from this position on. */
  readonly fromPosition?: number | undefined;
  /** Only events from this instant on; ISO 8601. */
  readonly fromDate?: string | undefined;
  /** Only events up to and including this cursor. */
  readonly until?: LogCursor | undefined;
  /** True: events are returned without their actions, which saves a look-up and the parsing of params for each. */
  readonly withoutActions?: boolean | undefined;
}

/** The result of one read. */
export interface LogPage {
  /** The selected events, in order. */
  readonly events: readonly LoggedEvent[];
  /** The cursor up to which the log has been read. */
  readonly next: LogCursor;
  /** Whether there may be more events after this page. */
  readonly more: boolean;
  /** Whether there are committed events above the horizon: they become readable when older transactions have ended. */
  readonly pending: boolean;
  /** Whether the end of the selection has been reached. */
  readonly ended: boolean;
  /** The server run that answered: its timeline, a slash, and its start time. */
  readonly serverRun: string;
}

/** Reads one shard's outbox in commit order. */
export class LogReader {
  readonly #database: ShardDatabase;
  readonly #runner: StatementRunner;

  /** @param runner a transaction on the same shard that the queries belong to. Default: none */
  constructor(database: ShardDatabase, runner: StatementRunner = database) {
    this.#database = database;
    this.#runner = runner;
  }

  /** A reader whose queries run in a transaction on the same shard. */
  within(transaction: StatementRunner): LogReader {
    return new LogReader(this.#database, transaction);
  }

  /**
   * The next events after `after`; reads at most `limit` rows.
   *
   * Reads only below the snapshot horizon: every transaction with a smaller id has ended, so no row can appear later
   * before a row that has been read.
   *
   * @throws EventEpochError if the rows were written under another server's transaction ids
   */
  async read(selection: LogSelection, after: LogCursor, limit: number): Promise<LogPage> {
    const { until } = selection;
    const ends = until !== undefined && until.epoch === after.epoch;
    const { rows } = await this.#runner.query(pageStatement(selection, after, limit));
    const last = rows.at(-1) ?? [];
    const [known, system, isPast, serverRun, isPending, count, isWanted, transactionId, position] = last;
    requireServer(this.#database, known, system);
    const looked = Number(count ?? 0);
    const selected = isWanted === true ? rows : rows.slice(0, -1);
    const events = selected.map((row) => toEvent(row, after.epoch));
    const full = looked >= limit;
    const next =
      looked === 0
        ? after
        : { epoch: after.epoch, transactionId: String(transactionId), position: Number(position) };
    const page = { events, next, more: false, pending: false, ended: false, serverRun: String(serverRun) };
    if (full) return { ...page, more: true };
    if (ends) return { ...page, ended: true };
    if (isPast === true) return { ...page, next: { ...START_OF_LOG, epoch: after.epoch + 1 }, more: true };
    return { ...page, pending: isPending === true };
  }

  /** Those of these events that the log does not contain. */
  async missing(eventIds: readonly string[]): Promise<readonly string[]> {
    const { rows } = await this.#runner.query({ text: MISSING, values: [`{${eventIds.join(',')}}`] });
    return rows.map(([id]) => String(id));
  }
}

const MISSING =
  'SELECT m.id FROM unnest($1::uuid[]) WITH ORDINALITY AS m (id, nr) ' +
  'WHERE NOT EXISTS (SELECT FROM eventlog.events AS e WHERE e.id = m.id) ORDER BY m.nr';

/**
 * There is always a last row, which alone has the first seven columns: system identifiers of the last epoch and of the
 * server, whether the epoch is over, server run, whether there is a committed event above the horizon, number of rows
 * read, and whether this row is selected. Nulls in their place in a thousand other rows save a tenth of the time of a page.
 *
 * All events of an epoch that is over are committed, and its transaction ids are meaningless on this server: then the
 * position of the next epoch bounds the page instead of the horizon.
 *
 * The action is joined row by row (LATERAL), because with another join the planner may read all actions for one page.
 * The pending event is the first row of an index scan, because the planner answers a plain EXISTS with a table scan.
 */
function pageStatement(selection: LogSelection, after: LogCursor, limit: number): Statement {
  const values: unknown[] = [];
  const put = (value: unknown): string => `$${values.push(value)}`;
  const { epoch, transactionId, position } = after;
  const { until } = selection;
  const current = put(epoch);
  const conditions = [
    `(e.transaction_id, e.position) > (${put(transactionId)}::xid8, ${put(position)}::bigint)`,
    'e.position > (SELECT lower FROM h) AND e.position <= (SELECT upper FROM h)',
    'e.transaction_id < (SELECT horizon FROM h)',
  ];
  if (until?.epoch === epoch)
    conditions.push(
      `(e.transaction_id, e.position) <= (${put(until.transactionId)}::xid8, ${put(until.position)}::bigint)`,
    );
  if (selection.model !== undefined) {
    conditions.push(`e.model_id = ${put(selection.model.id)}`, `e.model_name = ${put(selection.model.name)}`);
  }
  // These conditions do not bound the scan: a page reads at most `limit` rows, however few of them are selected.
  const wanted: string[] = [];
  const oneOf = (names: readonly string[]): string => `= ANY (${put(textArray(names))}::text[])`;
  if (selection.eventTypes !== undefined) wanted.push(`e.event_type ${oneOf(selection.eventTypes)}`);
  if (selection.modelNames !== undefined) wanted.push(`e.model_name ${oneOf(selection.modelNames)}`);
  if (selection.exceptModels !== undefined) wanted.push(`NOT e.model_name ${oneOf(selection.exceptModels)}`);
  if (selection.fromPosition !== undefined)
    wanted.push(`e.position >= ${put(selection.fromPosition)}::bigint`);
  if (selection.fromDate !== undefined)
    wanted.push(`e.created_date >= ${put(selection.fromDate)}::timestamptz`);
  const text = `WITH h AS MATERIALIZED (SELECT s.*, l.system_identifier AS known, n.epoch IS NOT NULL AS past,
  coalesce(c.after_position, 0) AS lower, coalesce(n.after_position, ${LAST_POSITION}) AS upper,
  CASE WHEN n.epoch IS NULL THEN s.xmin ELSE '${LAST_TRANSACTION}' END AS horizon
FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin,
    (SELECT system_identifier::text FROM pg_control_system()) AS system, eventlog.server_run() AS server_run) AS s
  LEFT JOIN eventlog.delivery_epochs AS c ON c.epoch = ${current}::integer
  LEFT JOIN eventlog.delivery_epochs AS n ON n.epoch = ${current}::integer + 1
  LEFT JOIN LATERAL (SELECT system_identifier FROM eventlog.delivery_epochs ORDER BY epoch DESC LIMIT 1) AS l ON true),
p AS MATERIALIZED (SELECT e.id, e.transaction_id, e.position, e.action_id, e.namespace, e.model_id, e.model_name,
    e.model_version, e.event_type, e.event_version, e.payload, e.created_date, e.trace_context,
    ${wanted.length === 0 ? 'true' : wanted.join(' AND ')} AS wanted
  FROM eventlog.events AS e WHERE ${conditions.join(' AND ')}
  ORDER BY e.transaction_id, e.position LIMIT ${put(limit)}),
n AS (SELECT *, row_number() OVER () AS nr, count(*) OVER () AS looked FROM p),
b AS MATERIALIZED (SELECT (SELECT f.id FROM eventlog.events AS f WHERE f.transaction_id >= (SELECT xmin FROM h)
  ORDER BY f.transaction_id, f.position LIMIT 1) IS NOT NULL AS pending)
SELECT f.*, n.transaction_id, n.position, n.id, n.action_id, n.namespace, n.model_id, n.model_name,
  n.model_version, n.event_type, n.event_version, n.payload, n.created_date, n.trace_context,
  a.name, a.principal, a.params, a.claims
FROM h CROSS JOIN b LEFT JOIN n ON n.wanted OR n.nr = n.looked
LEFT JOIN LATERAL (SELECT h.known, h.system, h.past, h.server_run, b.pending, n.looked, n.wanted) AS f
  ON n.nr IS NOT DISTINCT FROM n.looked
${selection.withoutActions === true ? NO_ACTIONS : ACTIONS}
ORDER BY n.transaction_id, n.position`;
  return { text, name: statementName(selection, epoch), values };
}

const ACTIONS = `LEFT JOIN LATERAL (SELECT name, principal, params, claims FROM eventlog.actions AS a
  WHERE a.id = n.action_id AND n.wanted OFFSET 0) AS a ON true`;
const NO_ACTIONS = `CROSS JOIN (SELECT NULL AS name, NULL AS principal, NULL AS params, NULL AS claims) AS a`;

/** The greatest values of their types. */
const LAST_POSITION = '9223372036854775807';
const LAST_TRANSACTION = '18446744073709551615';

/** One statement name per combination of conditions. */
function statementName(selection: LogSelection, epoch: number): string {
  const { until, model, eventTypes, modelNames, exceptModels, fromPosition, fromDate, withoutActions } =
    selection;
  const names = [eventTypes, modelNames, exceptModels, withoutActions];
  const flags = [until?.epoch === epoch, model, fromPosition, fromDate, ...names];
  return `fw_log_${flags.map((flag) => (flag === undefined || flag === false ? '0' : '1')).join('')}`;
}

function toEvent(row: readonly unknown[], epoch: number): LoggedEvent {
  const [, , , , , , , transactionId, position, id, actionId, namespace, modelId, modelName, modelVersion] =
    row;
  const [eventType, eventVersion, payload, createdDate, traceContext, name, principal, params, claims] =
    row.slice(15);
  return {
    id: String(id),
    cursor: { epoch, transactionId: String(transactionId), position: Number(position) },
    actionId: String(actionId),
    namespace: String(namespace),
    modelId: String(modelId),
    modelName: String(modelName),
    modelVersion: Number(modelVersion),
    eventType: String(eventType),
    eventVersion: Number(eventVersion),
    payload: payload as JsonObject,
    createdDate: (createdDate as Date).toISOString(),
    traceContext: traceContext === null ? null : String(traceContext),
    action:
      name === null || name === undefined
        ? null
        : {
            name: String(name),
            principal: String(principal),
            claims: claims as JsonObject | null,
            params: params as JsonObject | null,
          },
  };
}
