import type { ModelDescriptor } from '../domain/descriptor.js';
import { type CodedColumn, RowCodec } from './row-codec.js';
import { arrayType, quoteIdentifier } from './sql-identifier.js';

/** What a flush does to one table; decides which parts of the statement there are. */
export interface TableShape {
  readonly model: ModelDescriptor;
  readonly updates: boolean;
  readonly adds: boolean;
  readonly expects: boolean;
}

/** What decides the text of a flush statement; the number of plans and rows does not. */
export interface FlushShape {
  /** Sorted by table name: every process locks tables in one order. */
  readonly tables: readonly TableShape[];
  readonly events: boolean;
  readonly keys: boolean;
  readonly skipLocked: boolean;
}

/** Columns that an update sets: all but the id and the version, which the statement counts up itself. */
export function updatedColumns(codec: RowCodec): readonly CodedColumn[] {
  return codec.columns.filter(({ descriptor }) => descriptor.field !== 'id' && descriptor.field !== 'version');
}

/** One text per shape. */
export function shapeKey(shape: FlushShape): string {
  const tables = shape.tables.map(
    ({ model, updates, adds, expects }) =>
      `${model.name}:${updates ? 'u' : ''}${adds ? 'a' : ''}${expects ? 'x' : ''}`,
  );
  return `${tables.join(',')}|${shape.events ? 'e' : ''}${shape.keys ? 'k' : ''}${shape.skipLocked ? 's' : ''}`;
}

/** Whether some plan of this shape can be left out because of a row. */
export function hasGuards(shape: FlushShape): boolean {
  return shape.tables.some(({ updates, expects }) => updates || expects);
}

/**
 * The text of a flush: one data-modifying statement for any number of plans, each all-or-nothing by itself. Plans
 * are numbered from 1 in the order of the action arrays. In order of dependence:
 *
 * 1. `m*`: rows to update; `l*`: guarded rows whose version matches, locked in id order; `ok`: plans whose every
 *    guard holds.
 * 2. `act`: the actions' own rows. A fenced attempt conflicts here, and then nothing of it is applied: `ap` holds the
 *    plans whose row went in, and everything below depends on it.
 * 3. `u*`, `i*`, `ev`, `k`: updates, inserts, outbox rows, idempotency keys. A key that is taken is a unique
 *    violation, which aborts the statement: the writer splits it, and the key's plan fails alone.
 *
 * Parameters stand in the order in which `flushStatement` collects them. `(x IN (SELECT ...)) = true` keeps the
 * planner on a hashed subplan, and `MATERIALIZED` keeps locking before writing.
 */
export function flushText(shape: FlushShape): string {
  let count = 0;
  const array = (type: string): string => `$${++count}::${type}`;
  const guards = hasGuards(shape);
  const actions = actionParameters(array);
  const parts: string[] = [];
  const needs = guards ? array('int[]') : undefined;
  const locked = shape.tables.map((table, index) => {
    parts.push(...guardParts(table, index, shape.skipLocked, array));
    return table.updates || table.expects ? index : undefined;
  });
  if (needs !== undefined) parts.push(okPart(locked, needs));
  parts.push(...actionParts(actions, guards));
  shape.tables.forEach((table, index) => {
    if (table.updates) parts.push(updatePart(table.model, index));
    if (table.adds) parts.push(insertPart(table.model, index, array));
  });
  if (shape.events) parts.push(eventPart(actions, array));
  if (shape.keys) parts.push(keyPart(actions, array));
  return `WITH ${parts.join(',\n')}\nSELECT coalesce(string_agg(plan::text, ','), '') AS applied FROM ap`;
}

type NextParameter = (type: string) => string;

interface ActionParameters {
  readonly namespace: string;
  readonly ids: string;
  readonly names: string;
  readonly principals: string;
  readonly started: string;
  readonly completed: string;
  readonly params: string;
  readonly results: string;
}

function actionParameters(array: NextParameter): ActionParameters {
  return {
    namespace: array('text'),
    ids: array('uuid[]'),
    names: array('text[]'),
    principals: array('text[]'),
    started: array('timestamptz[]'),
    completed: array('timestamptz[]'),
    params: array('jsonb[]'),
    results: array('jsonb[]'),
  };
}

function guardParts(table: TableShape, index: number, skipLocked: boolean, array: NextParameter): string[] {
  const parts: string[] = [];
  const sources: string[] = [];
  if (table.updates) {
    const columns = updatedColumns(RowCodec.of(table.model));
    const names = columns.map((_, position) => `c${position}`);
    const types = columns.map(({ descriptor }) => array(arrayType(descriptor.sqlType)));
    const keys = [array('int[]'), array('uuid[]'), array('bigint[]')];
    parts.push(
      `m${index} AS MATERIALIZED (SELECT * FROM unnest(${[...types, ...keys].join(', ')}) AS m(${[...names, 'plan', 'id', 'expected'].join(', ')}))`,
    );
    sources.push(`SELECT plan, id, expected FROM m${index}`);
  }
  if (table.expects) {
    sources.push(
      `SELECT * FROM unnest(${array('int[]')}, ${array('uuid[]')}, ${array('bigint[]')}) AS x(plan, id, expected)`,
    );
  }
  if (sources.length > 0) {
    parts.push(
      `l${index} AS MATERIALIZED (SELECT g.plan FROM (${sources.join(' UNION ALL ')}) AS g ` +
        `JOIN ${quoteIdentifier(table.model.table)} AS t ON t.id = g.id ` +
        `WHERE t.version = g.expected ORDER BY t.id FOR NO KEY UPDATE OF t${skipLocked ? ' SKIP LOCKED' : ''})`,
    );
  }
  return parts;
}

/** Plans with as many locked rows as they have guards; plans without guards always stand. */
function okPart(locked: readonly (number | undefined)[], needs: string): string {
  const rows = locked.filter((index) => index !== undefined).map((index) => `SELECT plan FROM l${index}`);
  return (
    `ok AS MATERIALIZED (SELECT plan FROM (${rows.join(' UNION ALL ')}) AS l GROUP BY plan HAVING count(*) = (${needs})[plan] ` +
    `UNION ALL SELECT plan::int FROM unnest(${needs}) WITH ORDINALITY AS n(need, plan) WHERE need = 0)`
  );
}

function actionParts(actions: ActionParameters, guards: boolean): string[] {
  const only = guards ? ' WHERE (a.plan IN (SELECT plan FROM ok)) = true' : '';
  const { namespace, ids, names, principals, started, completed, params, results } = actions;
  return [
    'act AS (INSERT INTO eventlog.actions ' +
      '(id, status, namespace, name, principal, started_date, completed_date, params, result) ' +
      `SELECT a.id, 'committed', ${namespace}, a.name, a.principal, a.started, a.completed, a.params, a.result ` +
      `FROM unnest(${[ids, names, principals, started, completed, params, results].join(', ')}) ` +
      `WITH ORDINALITY AS a(id, name, principal, started, completed, params, result, plan)${only} ` +
      'ON CONFLICT DO NOTHING RETURNING id)',
    `ap AS MATERIALIZED (SELECT a.plan::int AS plan FROM unnest(${ids}) WITH ORDINALITY AS a(id, plan) WHERE (a.id IN (SELECT id FROM act)) = true)`,
  ];
}

const APPLIED = '(plan IN (SELECT plan FROM ap)) = true';

function updatePart(model: ModelDescriptor, index: number): string {
  const assignments = updatedColumns(RowCodec.of(model)).map(
    ({ descriptor }, position) => `${quoteIdentifier(descriptor.column)} = m.c${position}`,
  );
  return (
    `u${index} AS (UPDATE ${quoteIdentifier(model.table)} AS t SET ${[...assignments, 'version = m.expected + 1'].join(', ')} ` +
    `FROM m${index} AS m WHERE t.id = m.id AND t.version = m.expected AND ${APPLIED})`
  );
}

function insertPart(model: ModelDescriptor, index: number, array: NextParameter): string {
  const names = model.columns.map(({ column }) => quoteIdentifier(column)).join(', ');
  const types = model.columns.map(({ sqlType }) => array(arrayType(sqlType)));
  return (
    `i${index} AS (INSERT INTO ${quoteIdentifier(model.table)} (${names}) ` +
    `SELECT ${names} FROM unnest(${[...types, array('int[]')].join(', ')}) AS n(${names}, plan) WHERE ${APPLIED})`
  );
}

function eventPart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'uuid[]', 'text[]', 'text[]', 'text[]', 'jsonb[]', 'bigint[]', 'int[]', 'text[]'];
  return (
    'ev AS (INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, ' +
    'created_date, model_version, event_version, trace_context) ' +
    `SELECT e.id, (${actions.ids})[plan], ${actions.namespace}, e.model_id, e.model_name, e.event_type, e.payload, ` +
    `(${actions.completed})[plan], e.model_version, e.event_version, e.trace_context ` +
    `FROM unnest(${types.map(array).join(', ')}) AS e(plan, id, model_id, model_name, event_type, payload, ` +
    `model_version, event_version, trace_context) WHERE ${APPLIED})`
  );
}

function keyPart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'text[]', 'text[]', 'text[]', 'int[]', 'int[]', 'jsonb[]', 'timestamptz[]'];
  return (
    'k AS (INSERT INTO eventlog.idempotency_keys (principal, operation, key, fingerprint, action_id, target_group, ' +
    'target_member, result, created_date, expires_date) ' +
    `SELECT (${actions.principals})[plan], k.operation, k.key, k.fingerprint, (${actions.ids})[plan], k.target_group, ` +
    `k.target_member, k.result, (${actions.completed})[plan], k.expires FROM unnest(${types.map(array).join(', ')}) ` +
    `AS k(plan, operation, key, fingerprint, target_group, target_member, result, expires) WHERE ${APPLIED})`
  );
}
