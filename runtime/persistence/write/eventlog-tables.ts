import type { ModelEvent } from '../../domain/model-event.js';
import { leaseEnd } from '../../sharding/lease-sql.js';
import type { CataloguedEvent } from '../codec/event-catalog.js';
import * as kind from '../codec/parameter-kind.js';
import type { JournalOpening } from '../journal/journal-store.js';
import type { KeyClaim } from './idempotency-key.js';
import type { PlanWrite, ScheduleRow } from './plan-write.js';
import { NAMESPACE } from './statement-builder.js';
import {
  type BoundRows,
  type Cell,
  cell,
  type InsertedColumn,
  type InsertedTable,
  insertedTable,
} from './statement-rows.js';

/** What a plan brings for a row of `eventlog.events`. */
export interface EventRow {
  readonly id: string;
  readonly event: ModelEvent<unknown>;
  readonly known: CataloguedEvent;
  readonly modelVersion: number;
  readonly traceContext: string | undefined;
}

export const ACTIONS: InsertedTable<PlanWrite> = table('actions', {
  id: given(kind.UUID, ({ action }) => action.id),
  status: derived(() => `'committed'`),
  namespace: derived(() => NAMESPACE),
  name: given(kind.TEXT, ({ action }) => action.name),
  principal: given(kind.TEXT, ({ action }) => action.principal),
  started_date: given(kind.INSTANT, ({ action }) => action.startedDate),
  completed_date: given(kind.INSTANT, ({ action }) => action.completedDate),
  params: given(
    kind.DOCUMENT,
    ({ action }) => action.params,
    (cell) => `nullif(${cell}, 'null')`,
  ),
  claims: given(kind.OPTIONAL_JSON, ({ action }) => action.claims),
});

export const EVENTS: InsertedTable<EventRow> = table('events', {
  id: given(kind.UUID, ({ id }) => id),
  action_id: ofPlan('id'),
  namespace: derived(() => NAMESPACE),
  model_id: given(kind.TEXT, ({ event }) => event.getModelId()),
  model_name: given(kind.TEXT, ({ event }) => event.getModelName()),
  event_type: given(kind.TEXT, ({ known }) => known.name),
  model_version: given(kind.BIGINT, ({ modelVersion }) => modelVersion),
  event_version: given(kind.INT, ({ known }) => known.version),
  trace_context: given(kind.OPTIONAL_TEXT, ({ traceContext }) => traceContext),
  created_date: derived(() => "date_trunc('milliseconds', now())"),
  payload: given(kind.DOCUMENT, ({ event, known }) => known.writePayload(event)),
});

export const KEYS: InsertedTable<KeyClaim> = table('idempotency_keys', {
  principal: ofPlan('principal'),
  operation: given(kind.TEXT, ({ operation }) => operation),
  key: given(kind.TEXT, ({ key }) => key),
  fingerprint: given(kind.TEXT, ({ fingerprint }) => fingerprint),
  action_id: ofPlan('id'),
  target_group: given(kind.INT, ({ target }) => target.group),
  target_member: given(kind.INT, ({ target }) => target.member),
  result: given(kind.DOCUMENT, ({ result }) => result),
  created_date: derived(() => 'now()'),
  expires_date: given(kind.BIGINT, ({ keepMs }) => keepMs, afterMs),
});

/** A scheduled action, and whether a plan of the same statement has cancelled it. */
type PlannedRow = ScheduleRow & Pick<PlanWrite, 'traceContext'> & { readonly isCancelled: boolean };

export const SCHEDULES: InsertedTable<PlannedRow> = table('schedules', {
  id: given(kind.UUID, ({ id }) => id),
  state: given(kind.TEXT, ({ isCancelled }) => (isCancelled ? 'cancelled' : 'pending')),
  due_date: (name) => ({ name, cell: cell(name, kind.ISO_INSTANT, ({ dueDate }) => dueDate), sql: dueSql }),
  next_date: (name) => ({
    name,
    cell: cell('after_ms', kind.NULLABLE_BIGINT, (row) => row.afterMs),
    sql: dueSql,
  }),
  action_name: given(kind.TEXT, ({ actionName }) => actionName),
  params: given(kind.JSON_TEXT, ({ params }) => params),
  params_version: given(kind.INT, ({ paramsVersion }) => paramsVersion),
  principal: (name) => ({
    name,
    cell: cell(name, kind.OPTIONAL_TEXT, ({ principal }) => principal),
    sql: ({ cell, number }, plans) => `coalesce(${cell(name)}::text, ${plans.cellOf(number, 'principal')})`,
  }),
  action_id: ofPlan('id'),
  trace_context: given(kind.OPTIONAL_TEXT, ({ traceContext }) => traceContext),
  created_date: derived(() => 'now()'),
  completed_date: derived(
    ({ cell, number }, plans) =>
      `case when ${cell('state')} = 'cancelled' then ${plans.cellOf(number, 'completed_date')} end`,
  ),
  claims: derived(
    ({ cell, number }, plans) =>
      `case when ${cell('principal')}::text is null then ${plans.cellOf(number, 'claims')}::jsonb end`,
  ),
});

function dueSql({ cell }: BoundRows): string {
  return `coalesce(${afterMs(cell('after_ms'))}, ${cell('due_date')})`;
}

/** An entry has the id of its plan's first action, and belongs to that execution until it had time to end. */
export const JOURNAL: InsertedTable<JournalOpening> = table('journal', {
  id: ofPlan('id'),
  action_name: ofPlan('name'),
  principal: ofPlan('principal'),
  started_date: ofPlan('started_date'),
  parts: given(kind.JSON_TEXT, ({ parts }) => parts),
  lease_owner: ofPlan('id'),
  lease_expires_date: given(kind.BIGINT, ({ holdMs }) => Math.ceil(holdMs), leaseEnd),
  lease_ms: derived(({ cell }) => cell('lease_expires_date')),
});

/** A time by the clock of the database: that of the transaction, and this many milliseconds. */
export function afterMs(milliseconds: string): string {
  return `now() + ${milliseconds} * interval '1 millisecond'`;
}

/** Scheduled actions that are taken back, by id. */
export const CANCELLATIONS: readonly Cell<string>[] = [cell('id', kind.UUID, (id) => id)];

/**
 * An `INSERT` of one row into some columns of a table.
 *
 * @param values SQL by column @param alias of the table
 */
export function insertInto<R>(
  { name }: InsertedTable<R>,
  values: Readonly<Record<string, string>>,
  alias?: string,
): string {
  const into = alias === undefined ? name : `${name} AS ${alias}`;
  return `INSERT INTO ${into} (${Object.keys(values).join(', ')}) SELECT ${Object.values(values).join(', ')}`;
}

type Column<R> = (name: string) => InsertedColumn<R>;

function table<R>(name: string, columns: Readonly<Record<string, Column<R>>>): InsertedTable<R> {
  return insertedTable(
    `eventlog.${name}`,
    Object.entries(columns).map(([column, of]) => of(column)),
  );
}

/** Each row brings it. */
function given<R, V>(
  type: kind.ParameterKind<V>,
  of: (row: R) => V,
  sql = (cell: string): string => cell,
): Column<R> {
  return (name) => ({ name, cell: cell(name, type, of), sql: (rows) => sql(rows.cell(name)) });
}

/** It follows from others. */
function derived<R>(sql: InsertedColumn<R>['sql']): Column<R> {
  return (name) => ({ name, sql });
}

/** The action of the row's plan has it. */
function ofPlan<R>(column: string): Column<R> {
  return derived(({ number }, plans) => plans.cellOf(number, column));
}
