import type { ModelDescriptor } from '../../domain/descriptor.js';
import type { ModelEvent } from '../../domain/model-event.js';
import { instantText } from '../codec/column-codec.js';
import { type CodedColumn, RowCodec } from '../codec/row-codec.js';
import { parameterType, quoteIdentifier } from '../codec/sql-identifier.js';
import { tableKey } from '../codec/table-key.js';
import { tableUpdates, type UpdateColumns } from '../codec/update-columns.js';
import { ALL_APPLIED } from './flush-shape.js';
import { changedBy, type RowChange } from './folded-group.js';
import type { PlanWrite } from './plan-write.js';

/** One event of a lone plan. */
export interface LoneEvent {
  readonly event: ModelEvent<unknown>;
  readonly modelVersion: number;
}

/**
 * A plan that travels alone and is simple enough for a statement without arrays: one row that it updates or expects at
 * most, one that it adds, one event, one key. For such a plan that statement costs the server two thirds of the
 * general one.
 */
export interface LonePlan {
  readonly plan: PlanWrite;
  readonly guard: RowChange | undefined;
  /** What is set of the row that it updates; undefined: it updates none. */
  readonly updates: UpdateColumns | undefined;
  readonly add: RowChange | undefined;
  readonly event: LoneEvent | undefined;
}

/** A value of a statement. */
type Value = string | null;

/** What an event's row holds besides what its plan knows; the payload as JSON text. */
export interface LoneEventRow {
  readonly id: string;
  readonly name: string;
  readonly eventVersion: number;
  readonly payload: string;
}

/** @param changes of the plan, one per row @returns undefined if the plan needs the general statement */
export function asLonePlan(plan: PlanWrite, changes: readonly RowChange[]): LonePlan | undefined {
  const { schedules = [], cancelledSchedules = [], journal } = plan;
  if (schedules.length > 0 || cancelledSchedules.length > 0 || journal !== undefined) return undefined;
  if (changes.length > 2) return undefined;
  const guards = changes.filter(({ kind }) => kind !== 'add');
  const adds = changes.filter(({ kind }) => kind === 'add');
  const events = plan.items.flatMap((item) =>
    item.kind === 'expect' ? [] : item.events.map((event) => ({ event, modelVersion: item.model.version })),
  );
  if (guards.length > 1 || adds.length > 1 || events.length > 1) return undefined;
  const [guard] = guards;
  const [add] = adds;
  // A key may go from one row of a table to the other.
  if (guard?.heldBefore !== undefined && guard.descriptor.table === add?.descriptor.table) return undefined;
  const updates =
    guard?.kind === 'update' ? tableUpdates(guard.descriptor).plain(changedBy(guard)) : undefined;
  if (guard?.kind === 'update' && updates === undefined) return undefined;
  return { plan, guard, updates, add, event: events[0] };
}

/** One text per shape. */
export function loneShapeKey({ plan, guard, updates, add, event }: LonePlan, skipLocked: boolean): string {
  const rows = [guard, add].map((change) =>
    change === undefined ? '' : `${change.kind}:${tableKey(change.descriptor)}`,
  );
  return `lone ${rows.join(',')}|${updates?.key ?? ''}|${event ? 'e' : ''}${plan.key ? 'k' : ''}${skipLocked ? 's' : ''}`;
}

/**
 * The text of the statement, with parameters in the order of `loneValues`. In order of dependence:
 *
 * 1. `l`: the guarded row, locked, if its version matches. Nothing is written without it.
 * 2. `act`, `u`, `i`, `ev`, `k`: the row of the action, the update, the insert, the outbox row, the idempotency key. The
 *    row of an action that was fenced is a unique violation, and so is a key that is taken.
 */
export function loneText(lone: LonePlan, skipLocked: boolean): string {
  let count = 0;
  const next = (type: string): string => `$${++count}::${type}`;
  const { guard, updates, add, event, plan } = lone;
  const action = actionParameters(next);
  const parts: string[] = [];
  const row = guard === undefined ? undefined : { id: next('uuid'), version: next('bigint') };
  if (guard !== undefined && row !== undefined) {
    parts.push(
      `l AS MATERIALIZED (SELECT FROM ${quoteIdentifier(guard.descriptor.table)} AS t WHERE t.id = ${row.id} ` +
        `AND t.version = ${row.version} FOR NO KEY UPDATE OF t${skipLocked ? ' SKIP LOCKED' : ''})`,
    );
  }
  const where = row === undefined ? '' : ` WHERE ${APPLIED}`;
  parts.push(actionPart(action, where));
  if (guard !== undefined && updates !== undefined && row !== undefined) {
    parts.push(updatePart(guard.descriptor, updates, row, next));
  }
  if (add !== undefined) parts.push(insertPart(add.descriptor, where, next));
  if (event !== undefined) parts.push(eventPart(action, where, next));
  if (plan.key !== undefined) parts.push(keyPart(action, where, next));
  const answer =
    row === undefined ? `'${ALL_APPLIED}'` : `CASE WHEN ${APPLIED} THEN '${ALL_APPLIED}' ELSE '' END`;
  return `WITH ${parts.join(',\n')}\nSELECT ${answer} AS applied`;
}

/** Values in the order of the text's parameters. @throws ValidationError if a value does not fit its column */
export function loneValues(
  { plan, guard, updates, add, event }: LonePlan,
  namespace: string,
  eventRow: (event: ModelEvent<unknown>) => LoneEventRow,
): readonly Value[] {
  const { action, key } = plan;
  const values: Value[] = [
    ...[namespace, action.id, action.name, action.principal],
    ...[instantText(action.startedDate), instantText(action.completedDate)],
    action.params ?? null,
  ];
  if (guard !== undefined) {
    values.push(guard.model.id.getValue(), String(guard.expectedVersion));
    if (updates !== undefined) {
      const columns = updates.columns.map(({ column }) => column);
      values.push(...columnValues(guard, columns));
    }
  }
  if (add !== undefined) values.push(...columnValues(add, RowCodec.of(add.descriptor).columns));
  if (event !== undefined) {
    const { id, name, eventVersion, payload } = eventRow(event.event);
    const { event: source, modelVersion } = event;
    values.push(id, source.getModelId(), source.getModelName(), name, payload);
    values.push(String(modelVersion), String(eventVersion), plan.traceContext ?? null);
  }
  if (key !== undefined) {
    const { group, member } = key.target;
    values.push(key.operation, key.key, key.fingerprint, String(group), String(member));
    values.push(key.result ?? null, key.expiresDate);
  }
  return values;
}

function columnValues({ descriptor, model }: RowChange, columns: readonly CodedColumn[]): readonly Value[] {
  const codec = RowCodec.of(descriptor);
  return columns.map((column) => codec.text(column, model));
}

type NextParameter = (type: string) => string;

interface ActionParameters {
  readonly namespace: string;
  readonly id: string;
  readonly name: string;
  readonly principal: string;
  readonly started: string;
  readonly completed: string;
  readonly params: string;
}

interface GuardParameters {
  readonly id: string;
  readonly version: string;
}

function actionParameters(next: NextParameter): ActionParameters {
  return {
    namespace: next('text'),
    id: next('uuid'),
    name: next('text'),
    principal: next('text'),
    started: next('timestamptz'),
    completed: next('timestamptz'),
    params: next('jsonb'),
  };
}

const APPLIED = 'EXISTS (SELECT FROM l)';

function actionPart(action: ActionParameters, where: string): string {
  const { namespace, id, name, principal, started, completed, params } = action;
  return (
    'act AS (INSERT INTO eventlog.actions (id, status, namespace, name, principal, started_date, completed_date, ' +
    `params) SELECT ${id}, 'committed', ${[namespace, name, principal, started, completed, params].join(', ')}${where})`
  );
}

function updatePart(
  model: ModelDescriptor,
  { columns }: UpdateColumns,
  row: GuardParameters,
  next: NextParameter,
): string {
  const assignments = columns.map(
    ({ column: { descriptor } }) =>
      `${quoteIdentifier(descriptor.column)} = ${next(parameterType(descriptor.sqlType))}`,
  );
  return (
    `u AS (UPDATE ${quoteIdentifier(model.table)} AS t SET ${assignments.join(', ')} ` +
    `WHERE t.id = ${row.id} AND t.version = ${row.version} AND ${APPLIED})`
  );
}

function insertPart(model: ModelDescriptor, where: string, next: NextParameter): string {
  const columns = model.columns.map(({ column }) => quoteIdentifier(column)).join(', ');
  const values = model.columns.map(({ sqlType }) => next(parameterType(sqlType))).join(', ');
  return `i AS (INSERT INTO ${quoteIdentifier(model.table)} (${columns}) SELECT ${values}${where})`;
}

function eventPart(
  { namespace, id, completed }: ActionParameters,
  where: string,
  next: NextParameter,
): string {
  const [event, modelId, modelName, type, payload] = ['uuid', 'text', 'text', 'text', 'jsonb'].map(next);
  const [modelVersion, version, trace] = ['bigint', 'int', 'text'].map(next);
  return (
    'ev AS (INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, ' +
    `created_date, model_version, event_version, trace_context) SELECT ${event}, ${id}, ${namespace}, ${modelId}, ` +
    `${modelName}, ${type}, ${payload}, ${completed}, ${modelVersion}, ${version}, ${trace}${where})`
  );
}

function keyPart({ id, principal, completed }: ActionParameters, where: string, next: NextParameter): string {
  const [operation, key, fingerprint] = ['text', 'text', 'text'].map(next);
  const [group, member, result, expires] = ['int', 'int', 'jsonb', 'timestamptz'].map(next);
  return (
    'k AS (INSERT INTO eventlog.idempotency_keys (principal, operation, key, fingerprint, action_id, target_group, ' +
    `target_member, result, created_date, expires_date) SELECT ${principal}, ${operation}, ${key}, ${fingerprint}, ${id}, ` +
    `${group}, ${member}, ${result}, ${completed}, ${expires}${where})`
  );
}
