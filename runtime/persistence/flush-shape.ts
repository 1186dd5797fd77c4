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

/** What decides the text of a flush statement; the number of groups, plans and rows does not. */
export interface FlushShape {
  /** Sorted by table name: every process locks tables in one order. */
  readonly tables: readonly TableShape[];
  readonly events: boolean;
  readonly keys: boolean;
  readonly schedules: boolean;
  readonly cancellations: boolean;
  readonly journal: boolean;
  /** Some group has more than one plan. */
  readonly folded: boolean;
  readonly skipLocked: boolean;
}

/** Columns that an update sets besides the version: all but the id. */
export function updatedColumns(codec: RowCodec): readonly CodedColumn[] {
  return codec.columns.filter(({ descriptor }) => descriptor.field !== 'id');
}

/** One text per shape. */
export function shapeKey(shape: FlushShape): string {
  const tables = shape.tables.map(
    ({ model, updates, adds, expects }) =>
      `${model.name}:${updates ? 'u' : ''}${adds ? 'a' : ''}${expects ? 'x' : ''}`,
  );
  const { events, keys, schedules, cancellations, journal, folded, skipLocked } = shape;
  return `${tables.join(',')}|${events ? 'e' : ''}${keys ? 'k' : ''}${schedules ? 'c' : ''}${cancellations ? 'x' : ''}${journal ? 'j' : ''}${folded ? 'f' : ''}${skipLocked ? 's' : ''}`;
}

/** Whether some group of this shape can be left out because of a row. */
export function hasGuards(shape: FlushShape): boolean {
  return shape.tables.some(({ updates, expects }) => updates || expects);
}

/**
 * The text of a flush: one data-modifying statement for any number of groups, each all-or-nothing by itself. Groups
 * and actions are numbered from 1; without folding they are the same. In order of dependence:
 *
 * 1. `m*`: rows to update; `l*`: guarded rows whose version matches, locked in id order; `ok`: groups whose every
 *    guard holds.
 * 2. `act`: the row of each group's first action. A fenced one conflicts here, and then nothing of the group is
 *    applied: `ap` holds the groups whose row went in, and everything below depends on it.
 * 3. `act2`: the rows of the further actions of folded groups. One that was fenced by itself is a unique violation,
 *    which aborts the statement.
 * 4. `u*`, `i*`, `ev`, `k`, `j`: updates, inserts, outbox rows, idempotency keys, entries of the journal. A key that is taken is a unique violation
 *    too: the writer splits the statement, and the key's plan fails alone.
 *
 * Parameters stand in the order in which `FlushStatements.make` collects them. `(x IN (SELECT ...)) = true` keeps the
 * planner on a hashed subplan, and `MATERIALIZED` keeps locking before writing.
 */
export function flushText(shape: FlushShape): string {
  let count = 0;
  const array = (type: string): string => `$${++count}::${type}`;
  const guards = hasGuards(shape);
  const actions = actionParameters(array, shape.folded);
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
  if (shape.schedules) parts.push(schedulePart(actions, array));
  if (shape.cancellations) parts.push(cancellationPart(actions, array));
  if (shape.journal) parts.push(journalPart(actions, array));
  return `WITH ${parts.join(',\n')}\nSELECT coalesce(string_agg(grp::text, ','), '') AS applied FROM ap`;
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
  /** Group of each action, and first action of each group; only where groups are folded. */
  readonly folding: { readonly groups: string; readonly leaders: string } | undefined;
}

function actionParameters(array: NextParameter, folded: boolean): ActionParameters {
  return {
    namespace: array('text'),
    ids: array('uuid[]'),
    names: array('text[]'),
    principals: array('text[]'),
    started: array('timestamptz[]'),
    completed: array('timestamptz[]'),
    params: array('jsonb[]'),
    results: array('jsonb[]'),
    folding: folded ? { groups: array('int[]'), leaders: array('uuid[]') } : undefined,
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
      `m${index} AS MATERIALIZED (SELECT * FROM unnest(${[...types, ...keys].join(', ')}) ` +
        `AS m(${[...names, 'grp', 'id', 'expected'].join(', ')}))`,
    );
    sources.push(`SELECT grp, id, expected FROM m${index}`);
  }
  if (table.expects) {
    const keys = [array('int[]'), array('uuid[]'), array('bigint[]')];
    sources.push(`SELECT * FROM unnest(${keys.join(', ')}) AS x(grp, id, expected)`);
  }
  if (sources.length > 0) {
    parts.push(
      `l${index} AS MATERIALIZED (SELECT g.grp FROM (${sources.join(' UNION ALL ')}) AS g ` +
        `JOIN ${quoteIdentifier(table.model.table)} AS t ON t.id = g.id ` +
        `WHERE t.version = g.expected ORDER BY t.id FOR NO KEY UPDATE OF t${skipLocked ? ' SKIP LOCKED' : ''})`,
    );
  }
  return parts;
}

/** Groups with as many locked rows as they have guards; groups without guards always stand. */
function okPart(locked: readonly (number | undefined)[], needs: string): string {
  const rows = locked.filter((index) => index !== undefined).map((index) => `SELECT grp FROM l${index}`);
  return (
    `ok AS MATERIALIZED (SELECT grp FROM (${rows.join(' UNION ALL ')}) AS l GROUP BY grp HAVING count(*) = (${needs})[grp] ` +
    `UNION ALL SELECT grp::int FROM unnest(${needs}) WITH ORDINALITY AS n(need, grp) WHERE need = 0)`
  );
}

const ACTION_COLUMNS =
  '(id, status, namespace, name, principal, started_date, completed_date, params, result)';

function actionParts(actions: ActionParameters, guards: boolean): string[] {
  const { folding, ids } = actions;
  const stands = guards ? [`(${groupOf('a.nr', folding)} IN (SELECT grp FROM ok)) = true`] : [];
  const leads = folding === undefined ? [] : [`a.id = (${folding.leaders})[(${folding.groups})[a.nr]]`];
  const parts = [
    `act AS (${insertActions(actions, [...leads, ...stands])} ON CONFLICT DO NOTHING RETURNING id)`,
    `ap AS MATERIALIZED (SELECT a.grp::int AS grp FROM unnest(${folding?.leaders ?? ids}) WITH ORDINALITY AS a(id, grp) ` +
      'WHERE (a.id IN (SELECT id FROM act)) = true)',
  ];
  if (folding !== undefined) {
    const follows = `a.id <> (${folding.leaders})[(${folding.groups})[a.nr]]`;
    parts.push(`act2 AS (${insertActions(actions, [follows, applied('a.nr', actions)])})`);
  }
  return parts;
}

function insertActions(actions: ActionParameters, conditions: readonly string[]): string {
  const { namespace, ids, names, principals, started, completed, params, results } = actions;
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return (
    `INSERT INTO eventlog.actions ${ACTION_COLUMNS} ` +
    `SELECT a.id, 'committed', ${namespace}, a.name, a.principal, a.started, a.completed, a.params, a.result ` +
    `FROM unnest(${[ids, names, principals, started, completed, params, results].join(', ')}) ` +
    `WITH ORDINALITY AS a(id, name, principal, started, completed, params, result, nr)${where}`
  );
}

/** Group of the action with this number. */
function groupOf(number: string, folding: ActionParameters['folding']): string {
  return folding === undefined ? number : `(${folding.groups})[${number}]`;
}

/** Condition: the action with this number belongs to a group that is applied. */
function applied(number: string, { folding }: ActionParameters): string {
  return `(${groupOf(number, folding)} IN (SELECT grp FROM ap)) = true`;
}

const GROUP_APPLIED = '(grp IN (SELECT grp FROM ap)) = true';

function updatePart(model: ModelDescriptor, index: number): string {
  const assignments = updatedColumns(RowCodec.of(model)).map(
    ({ descriptor }, position) => `${quoteIdentifier(descriptor.column)} = m.c${position}`,
  );
  return (
    `u${index} AS (UPDATE ${quoteIdentifier(model.table)} AS t SET ${assignments.join(', ')} ` +
    `FROM m${index} AS m WHERE t.id = m.id AND t.version = m.expected AND ${GROUP_APPLIED})`
  );
}

function insertPart(model: ModelDescriptor, index: number, array: NextParameter): string {
  const columns = model.columns.map(({ column }) => quoteIdentifier(column)).join(', ');
  const names = model.columns.map((_, position) => `c${position}`).join(', ');
  const types = model.columns.map(({ sqlType }) => array(arrayType(sqlType)));
  return (
    `i${index} AS (INSERT INTO ${quoteIdentifier(model.table)} (${columns}) ` +
    `SELECT ${names} FROM unnest(${[...types, array('int[]')].join(', ')}) AS n(${names}, grp) WHERE ${GROUP_APPLIED})`
  );
}

function eventPart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'uuid[]', 'text[]', 'text[]', 'text[]', 'jsonb[]', 'bigint[]', 'int[]', 'text[]'];
  return (
    'ev AS (INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, ' +
    'created_date, model_version, event_version, trace_context) ' +
    `SELECT e.id, (${actions.ids})[e.nr], ${actions.namespace}, e.model_id, e.model_name, e.event_type, e.payload, ` +
    `(${actions.completed})[e.nr], e.model_version, e.event_version, e.trace_context ` +
    `FROM unnest(${types.map(array).join(', ')}) AS e(nr, id, model_id, model_name, event_type, payload, ` +
    `model_version, event_version, trace_context) WHERE ${applied('e.nr', actions)})`
  );
}

function schedulePart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'uuid[]', 'timestamptz[]', 'text[]', 'jsonb[]', 'text[]'];
  return (
    'sc AS (INSERT INTO eventlog.schedules (id, due_date, next_date, action_name, params, principal, action_id, ' +
    'trace_context, created_date) SELECT s.id, s.due, s.due, s.action_name, s.params, ' +
    `(${actions.principals})[s.nr], (${actions.ids})[s.nr], s.trace_context, (${actions.completed})[s.nr] ` +
    `FROM unnest(${types.map(array).join(', ')}) AS s(nr, id, due, action_name, params, trace_context) ` +
    `WHERE ${applied('s.nr', actions)})`
  );
}

/** What is running cannot be taken back any more. */
function cancellationPart(actions: ActionParameters, array: NextParameter): string {
  return (
    "x AS (UPDATE eventlog.schedules AS s SET state = 'cancelled', " +
    `completed_date = (${actions.completed})[c.nr] FROM unnest(${['int[]', 'uuid[]'].map(array).join(', ')}) AS c(nr, id) ` +
    `WHERE s.id = c.id AND s.state IN ('pending', 'failed') AND ${applied('c.nr', actions)})`
  );
}

function keyPart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'text[]', 'text[]', 'text[]', 'int[]', 'int[]', 'jsonb[]', 'timestamptz[]'];
  return (
    'k AS (INSERT INTO eventlog.idempotency_keys (principal, operation, key, fingerprint, action_id, target_group, ' +
    'target_member, result, created_date, expires_date) ' +
    `SELECT (${actions.principals})[k.nr], k.operation, k.key, k.fingerprint, (${actions.ids})[k.nr], k.target_group, ` +
    `k.target_member, k.result, (${actions.completed})[k.nr], k.expires FROM unnest(${types.map(array).join(', ')}) ` +
    `AS k(nr, operation, key, fingerprint, target_group, target_member, result, expires) WHERE ${applied('k.nr', actions)})`
  );
}

/** An entry has the id of its plan's first action, and belongs to that execution until it had time to end. */
function journalPart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'jsonb[]', 'int[]'];
  return (
    'j AS (INSERT INTO eventlog.journal (id, action_name, principal, started_date, legs, lease_owner, lease_expires_date) ' +
    `SELECT (${actions.ids})[j.nr], (${actions.names})[j.nr], (${actions.principals})[j.nr], (${actions.started})[j.nr], ` +
    `j.legs, (${actions.ids})[j.nr], clock_timestamp() + j.hold * interval '1 millisecond' ` +
    `FROM unnest(${types.map(array).join(', ')}) AS j(nr, legs, hold) WHERE ${applied('j.nr', actions)})`
  );
}
