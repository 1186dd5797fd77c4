import type { ModelEvent } from '../../domain/model-event.js';
import type { CataloguedEvent } from '../codec/event-catalog.js';
import {
  BIGINT,
  DOCUMENT,
  INSTANT,
  INT,
  ISO_INSTANT,
  JSON_TEXT,
  OPTIONAL_TEXT,
  type ParameterKind,
  TEXT,
  UUID,
} from '../codec/parameter-kind.js';
import type { JournalOpening } from '../journal/journal-store.js';
import type { KeyClaim } from './idempotency-key.js';
import type { ActionRow, ScheduleRow } from './plan-write.js';
import { type ActionColumn, type BoundRows, type Cell, cell, type InsertedTable } from './statement-rows.js';

/** What a plan brings for a row of `eventlog.events`. */
export interface EventRow {
  readonly id: string;
  readonly event: ModelEvent<unknown>;
  readonly known: CataloguedEvent;
  readonly modelVersion: number;
  readonly traceContext: string | undefined;
}

/** What a plan brings for a row of `eventlog.schedules`. */
export interface TracedSchedule extends ScheduleRow {
  readonly traceContext: string | undefined;
}

export const ACTIONS: InsertedTable<ActionRow> = table('actions', {
  id: given(UUID, ({ id }) => id),
  status: constant(`'committed'`),
  namespace: ofAction('namespace'),
  name: given(TEXT, ({ name }) => name),
  principal: given(TEXT, ({ principal }) => principal),
  started_date: given(INSTANT, ({ startedDate }) => startedDate),
  completed_date: given(INSTANT, ({ completedDate }) => completedDate),
  params: given(
    DOCUMENT,
    ({ params }) => params,
    (cell) => `nullif(${cell}, 'null')`,
  ),
});

/** Where the principal of some plan has claims: the column is left out otherwise. */
export const ACTIONS_WITH_CLAIMS: InsertedTable<ActionRow> = withColumn(
  ACTIONS,
  'claims',
  given(JSON_TEXT, ({ claims }) => claims),
);

export const EVENTS: InsertedTable<EventRow> = table('events', {
  id: given(UUID, ({ id }) => id),
  action_id: ofAction('id'),
  namespace: ofAction('namespace'),
  model_id: given(TEXT, ({ event }) => event.getModelId()),
  model_name: given(TEXT, ({ event }) => event.getModelName()),
  event_type: given(TEXT, ({ known }) => known.name),
  model_version: given(BIGINT, ({ modelVersion }) => modelVersion),
  event_version: given(INT, ({ known }) => known.version),
  trace_context: given(OPTIONAL_TEXT, ({ traceContext }) => traceContext),
  created_date: ofAction('completed_date'),
  payload: given(DOCUMENT, ({ event, known }) => known.writePayload(event)),
});

export const KEYS: InsertedTable<KeyClaim> = table('idempotency_keys', {
  principal: ofAction('principal'),
  operation: given(TEXT, ({ operation }) => operation),
  key: given(TEXT, ({ key }) => key),
  fingerprint: given(TEXT, ({ fingerprint }) => fingerprint),
  action_id: ofAction('id'),
  target_group: given(INT, ({ target }) => target.group),
  target_member: given(INT, ({ target }) => target.member),
  result: given(JSON_TEXT, ({ result }) => result),
  created_date: ofAction('completed_date'),
  expires_date: given(ISO_INSTANT, ({ expiresDate }) => expiresDate),
});

export const SCHEDULES: InsertedTable<TracedSchedule> = table('schedules', {
  id: given(UUID, ({ id }) => id),
  due_date: given(ISO_INSTANT, ({ dueDate }) => dueDate),
  next_date: copied('due_date'),
  action_name: given(TEXT, ({ actionName }) => actionName),
  params: given(JSON_TEXT, ({ params }) => params),
  params_version: given(INT, ({ paramsVersion }) => paramsVersion),
  principal: ofAction('principal'),
  action_id: ofAction('id'),
  trace_context: given(OPTIONAL_TEXT, ({ traceContext }) => traceContext),
  created_date: ofAction('completed_date'),
});

export const SCHEDULES_WITH_CLAIMS: InsertedTable<TracedSchedule> = withColumn(
  SCHEDULES,
  'claims',
  ofAction('claims'),
);

/** An entry has the id of its plan's first action, and belongs to that execution until it had time to end. */
export const JOURNAL: InsertedTable<JournalOpening> = table('journal', {
  id: ofAction('id'),
  action_name: ofAction('name'),
  principal: ofAction('principal'),
  started_date: ofAction('started_date'),
  legs: given(JSON_TEXT, ({ parts }) => parts),
  lease_owner: ofAction('id'),
  lease_expires_date: given(
    BIGINT,
    ({ holdMs }) => Math.ceil(holdMs),
    (cell) => `clock_timestamp() + ${cell} * interval '1 millisecond'`,
  ),
});

/** Scheduled actions that are taken back, by id. */
export const CANCELLATIONS: readonly Cell<string>[] = [cell('id', UUID, (id) => id)];

type Column<R> = (name: string) => {
  readonly cell?: Cell<R>;
  readonly sql: (rows: BoundRows) => string;
};

function table<R>(name: string, columns: Readonly<Record<string, Column<R>>>): InsertedTable<R> {
  const made = Object.entries(columns).map(([column, make]) => ({ name: column, ...make(column) }));
  return { name: `eventlog.${name}`, cells: made.flatMap((column) => column.cell ?? []), columns: made };
}

function withColumn<R>(
  { name, cells, columns }: InsertedTable<R>,
  column: string,
  make: Column<R>,
): InsertedTable<R> {
  const made = make(column);
  return {
    name,
    cells: made.cell === undefined ? cells : [...cells, made.cell],
    columns: [...columns, { name: column, ...made }],
  };
}

/** Each row brings it. */
function given<R, V>(
  kind: ParameterKind<V>,
  of: (row: R) => V,
  sql = (text: string): string => text,
): Column<R> {
  return (name) => ({ cell: cell(name, kind, of), sql: (rows) => sql(rows.cell(name)) });
}

function ofAction<R>(column: ActionColumn): Column<R> {
  return () => ({ sql: (rows) => rows.action(column) });
}

function copied<R>(column: string): Column<R> {
  return () => ({ sql: (rows) => rows.cell(column) });
}

function constant<R>(sql: string): Column<R> {
  return () => ({ sql: () => sql });
}
