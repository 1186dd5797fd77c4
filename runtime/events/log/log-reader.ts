import { hash } from 'node:crypto';
import type { JsonObject } from '../../domain/json.js';
import { textArray } from '../../persistence/codec/column-codec.js';
import { requireServer } from '../../sharding/log-server.js';
import type { ShardDatabase, Statement } from '../../sharding/shard-database.js';
import { parseInstant } from '../../sharding/value-parsers.js';
import {
  isBehind,
  type LogCursor,
  type LoggedEvent,
  type SourceAction,
  START_OF_LOG,
} from './event-record.js';

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

export interface LogPage {
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

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /**
   * The next events after `after`; reads at most `limit` rows, and fewer if their payloads are large.
   *
   * Reads only below the snapshot horizon: every transaction with a smaller id has ended, so no row can appear later
   * before a row that has been read.
   *
   * @param on a transaction on the same shard that the query belongs to
   * @throws EventEpochError if the rows were written under another server's transaction ids
   */
  async read(
    selection: LogSelection,
    after: LogCursor,
    limit: number,
    on: StatementRunner = this.#database,
  ): Promise<LogPage> {
    const { until } = selection;
    const ends = until !== undefined && until.epoch === after.epoch;
    const { rows } = await on.query(pageStatement(selection, after, limit));
    const { events, state } = readCells(rows, after.epoch);
    const [known = null, system, isPast, serverRun, isPending, isFull, transactionId, position] = state;
    requireServer(this.#database, known, system);
    const next =
      isFull === null
        ? after
        : { epoch: after.epoch, transactionId: String(transactionId), position: Number(position) };
    const page = { events, next, more: false, pending: false, ended: false, serverRun: String(serverRun) };
    if (isFull === true) return { ...page, more: true };
    if (ends) return { ...page, ended: true };
    if (isPast === true) return { ...page, next: { ...START_OF_LOG, epoch: after.epoch + 1 }, more: true };
    return { ...page, pending: isPending === true };
  }

  /** Those of these events that the log does not contain. */
  async missing(eventIds: readonly string[]): Promise<readonly string[]> {
    const { rows } = await this.#database.query({ text: MISSING, values: [`{${eventIds.join(',')}}`] });
    return rows.map(([id]) => String(id));
  }
}

const MISSING =
  'SELECT m.id FROM unnest($1::uuid[]) WITH ORDINALITY AS m (id, nr) ' +
  'WHERE NOT EXISTS (SELECT FROM eventlog.events AS e WHERE e.id = m.id) ORDER BY m.nr';

/**
 * Each row is one cell, whose parts are separated: a column costs both sides more than a part. The first part is the kind:
 * an event, an action that several events may have in common, or the state of the log, of which there is always one:
 * system identifiers of the last epoch and of the server, whether the epoch is over, server run, whether there is a
 * committed event above the horizon, whether rows may follow (null: none was read), and the place of the last one.
 *
 * Rows behind those that fill the page (`bytes` of the payloads before them) are left to the next one. Sizes are known
 * without reading values that are stored apart; a compressed one counts as `EXPANSION` times its size.
 *
 * All events of an epoch that is over are committed, and its transaction ids are meaningless on this server: then the
 * position of the next epoch bounds the page instead of the horizon.
 *
 * The actions are read by the array of their ids, which the server (from 17 on) searches in one descent of the index,
 * within bounds, which exclude the other partitions. For a join the planner may read all actions, or compare each with
 * each. The pending event is the first row of an index scan, because the planner answers a plain EXISTS with a table scan.
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
  const most = put(limit);
  const text = `WITH h AS MATERIALIZED (SELECT s.*, l.system_identifier AS known, n.epoch IS NOT NULL AS past,
  coalesce(c.after_position, 0) AS lower, coalesce(n.after_position, ${LAST_POSITION}) AS upper,
  CASE WHEN n.epoch IS NULL THEN s.xmin ELSE '${LAST_TRANSACTION}' END AS horizon
FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin,
    (SELECT system_identifier::text FROM pg_control_system()) AS system, eventlog.server_run() AS server_run) AS s
  LEFT JOIN eventlog.delivery_epochs AS c ON c.epoch = ${current}::integer
  LEFT JOIN eventlog.delivery_epochs AS n ON n.epoch = ${current}::integer + 1
  LEFT JOIN LATERAL (SELECT system_identifier FROM eventlog.delivery_epochs ORDER BY epoch DESC LIMIT 1) AS l ON true),
p AS MATERIALIZED (SELECT r.*, sum(r.bytes) OVER (ORDER BY r.transaction_id, r.position ROWS UNBOUNDED PRECEDING) - r.bytes
    < ${PAGE_BYTES} AS fits FROM (SELECT e.id, e.transaction_id, e.position, e.action_id, e.namespace, e.model_id, e.model_name,
    e.model_version, e.event_type, e.event_version, e.payload, e.created_date, e.trace_context,
    ${wanted.length === 0 ? 'true' : wanted.join(' AND ')} AS wanted,
    pg_column_size(e.payload) * CASE WHEN pg_column_compression(e.payload) IS NULL THEN 1 ELSE ${EXPANSION} END AS bytes
  FROM eventlog.events AS e WHERE ${conditions.join(' AND ')}
  ORDER BY e.transaction_id, e.position LIMIT ${most}::bigint) AS r),
b AS MATERIALIZED (SELECT (SELECT f.id FROM eventlog.events AS f WHERE f.transaction_id >= (SELECT xmin FROM h)
  ORDER BY f.transaction_id, f.position LIMIT 1) IS NOT NULL AS pending),
i AS MATERIALIZED (SELECT ARRAY(SELECT action_id FROM p WHERE wanted AND fits ORDER BY action_id) AS ids)
SELECT concat_ws('${SEPARATOR}', '${EVENT}', transaction_id, position, id, action_id, namespace, model_id, model_name,
  model_version, event_type, event_version, payload, created_date, trace_context) FROM p WHERE wanted AND fits
${selection.withoutActions === true ? '' : ACTIONS}
UNION ALL SELECT concat_ws('${SEPARATOR}', '${STATE}', json_build_array(h.known, h.system, h.past, h.server_run, b.pending,
  l.is_full, l.transaction_id, l.position))
FROM h CROSS JOIN b LEFT JOIN (SELECT transaction_id, position,
    (SELECT count(*) >= ${most}::bigint OR NOT bool_and(fits) FROM p) AS is_full
  FROM p WHERE fits ORDER BY transaction_id DESC, position DESC LIMIT 1) AS l ON true`;
  // One statement per combination of conditions.
  return { text, name: `fw_log_${hash('sha1', text).slice(0, 20)}`, values };
}

/** A page holds payloads of about this size, and at least one event. */
const PAGE_BYTES = 16_777_216;
/** How much compressed values grow at most, usually. */
const EXPANSION = 20;

/** Separates the parts of a cell. Only the last part may contain it: JSON escapes it, and names and ids lack it. */
const SEPARATOR = '\u001f';
const EVENT = 'e';
const ACTION = 'a';
const STATE = 's';

const ACTIONS = `UNION ALL SELECT concat_ws('${SEPARATOR}', '${ACTION}', a.id, a.name, coalesce(a.params::text, ''),
  coalesce(a.claims::text, ''), a.principal)
FROM i JOIN eventlog.actions AS a ON a.id = ANY (i.ids) AND a.id >= i.ids[1] AND a.id <= i.ids[cardinality(i.ids)]`;

const LAST_POSITION = '9223372036854775807';
const LAST_TRANSACTION = '18446744073709551615';

/** The events in their order with their actions, and the state of the log. */
function readCells(
  rows: readonly (readonly unknown[])[],
  epoch: number,
): { readonly events: LoggedEvent[]; readonly state: readonly unknown[] } {
  const events: string[][] = [];
  const actions = new Map<string, SourceAction>();
  let state = '[]';
  for (const [cell] of rows) {
    const parts = String(cell).split(SEPARATOR);
    const [kind, first = ''] = parts;
    if (kind === EVENT) events.push(parts);
    else if (kind === ACTION) actions.set(first, toAction(parts));
    else state = first;
  }
  return {
    events: events.map((parts) => toEvent(parts, epoch, actions)).sort(inOrder),
    state: JSON.parse(state),
  };
}

function toAction(parts: readonly string[]): SourceAction {
  const [, , name = '', params, claims] = parts;
  const principal = parts.slice(5).join(SEPARATOR);
  return { name, principal, claims: jsonOf(claims), params: jsonOf(params) };
}

function toEvent(
  parts: readonly string[],
  epoch: number,
  actions: ReadonlyMap<string, SourceAction>,
): LoggedEvent {
  const [
    ,
    transactionId = '',
    position,
    id = '',
    actionId = '',
    namespace = '',
    modelId = '',
    modelName = '',
  ] = parts;
  const [, , , , , , , , modelVersion, eventType = '', eventVersion, payload, createdDate = '', trace] =
    parts;
  return {
    id,
    cursor: { epoch, transactionId, position: Number(position) },
    actionId,
    namespace,
    modelId,
    modelName,
    modelVersion: Number(modelVersion),
    eventType,
    eventVersion: Number(eventVersion),
    payload: jsonOf(payload) ?? {},
    createdDate: instantText(createdDate),
    traceContext: trace ?? null,
    action: actions.get(actionId) ?? null,
  };
}

function jsonOf(text: string | undefined): JsonObject | null {
  return text === undefined || text === '' ? null : JSON.parse(text);
}

/** A `timestamptz` in ISO 8601. Sessions run in UTC, so nearly every value only changes its form. */
function instantText(text: string): string {
  if (!COMMON_INSTANT.test(text)) return parseInstant(text).toISOString();
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${`${text.slice(20, -3)}000`.slice(0, 3)}Z`;
}

const COMMON_INSTANT = /^[1-9]\d{3}-\d\d-\d\d [\d:]{8}(?:\.\d{1,6})?\+00$/;

/** The rows of a union have no order, though they nearly always come in that of the scan. */
function inOrder({ cursor: one }: LoggedEvent, { cursor: other }: LoggedEvent): number {
  if (one.transactionId === other.transactionId) return one.position - other.position;
  return isBehind(one, other) ? -1 : 1;
}
