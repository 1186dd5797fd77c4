import type { ModelDescriptor } from '../../domain/descriptor.js';
import { RowCodec } from '../codec/row-codec.js';
import { arrayType, quoteIdentifier } from '../codec/sql-identifier.js';
import { tableKey } from '../codec/table-key.js';
import type { UpdateColumns } from '../codec/update-columns.js';
import { type FoldingProof, foldingCondition } from './folding-rules.js';

/** What a flush does to one table; decides which parts of the statement there are. */
export interface TableShape {
  readonly model: ModelDescriptor;
  /** What is set of the rows that it updates; undefined: it updates none. */
  readonly updates: UpdateColumns | undefined;
  readonly adds: boolean;
  readonly expects: boolean;
  /** Rows that it adds are left out with their group if they conflict: what stands behind `ON CONFLICT`. Default: they fail. */
  readonly conflicts?: string | undefined;
  /**
   * Natural keys go from one row to another: so many updates follow one another, each when the one before is done, and
   * the inserts come last. A unique index is checked row by row. Default: all at once.
   */
  readonly steps?: number | undefined;
  /** Nothing is applied unless the catalog says that rows of the table may be folded. Default: it is not asked. */
  readonly proves?: Pick<FoldingProof, 'hasTriggers'> | undefined;
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
  /** Each group has exactly one guard. */
  readonly oneGuard: boolean;
  readonly skipLocked: boolean;
}

/** One text per shape. */
export function shapeKey(shape: FlushShape): string {
  const tables = shape.tables.map(
    ({ model, updates, adds, expects, conflicts, proves, steps }) =>
      `${tableKey(model)}:${proves === undefined ? '' : `p${proves.hasTriggers ? 't' : ''}`}${updates ? `u${updates.key}` : ''}${adds ? 'a' : ''}${expects ? 'x' : ''}${steps === undefined ? '' : `h${steps}`}${
        conflicts === undefined ? '' : `!${conflicts}!`
      }`,
  );
  const { events, keys, schedules, cancellations, journal, folded, oneGuard, skipLocked } = shape;
  return `${tables.join(',')}|${events ? 'e' : ''}${keys ? 'k' : ''}${schedules ? 'c' : ''}${cancellations ? 'x' : ''}${journal ? 'j' : ''}${folded ? 'f' : ''}${oneGuard ? '1' : ''}${skipLocked ? 's' : ''}`;
}

/** Whether some group of this shape can be left out because of a row. */
export function hasGuards(shape: FlushShape): boolean {
  return shape.tables.some(
    ({ updates, expects, conflicts, proves }) =>
      updates !== undefined || expects || conflicts !== undefined || proves !== undefined,
  );
}

/**
 * The text of a flush: one data-modifying statement for any number of groups, each all-or-nothing by itself. Groups
 * and actions are numbered from 1; without folding they are the same. In order of dependence:
 *
 * 1. `m*`: rows to update; `l*`: guarded rows whose version matches, locked in id order; `ok`: groups whose every
 *    guard holds. Everything below is written for these groups alone.
 *    Where rows that conflict are left out, these groups are `held`; `n*` and `i*` are the rows to insert and those
 *    inserted, `refused` the groups of all others, and `ok` is what remains.
 * 2. `act`, `u*`, `i*`, `ev`, `k`, `j`: the rows of the actions, updates, inserts, outbox rows, idempotency keys, entries
 *    of the journal. The row of an action that was fenced is a unique violation, and so is a key that is taken: the
 *    writer splits the statement until the guilty plan stands alone.
 *
 * Parameters stand in the order in which `FlushStatements.make` collects them. `(x IN (SELECT ...)) = true` keeps the
 * planner on a hashed subplan, and `MATERIALIZED` keeps locking before writing.
 */
export function flushText(shape: FlushShape): string {
  let count = 0;
  const array = (type: string): string => `$${++count}::${type}`;
  const guards = hasGuards(shape);
  const actions = actionParameters(array, shape.folded, guards);
  const needs = guards && !shape.oneGuard ? array('int[]') : undefined;
  const proof = proofPart(shape, array);
  const parts = [...proof];
  const locked: number[] = [];
  shape.tables.forEach((table, index) => {
    parts.push(...guardParts(table, index, shape.skipLocked, array));
    if (table.updates !== undefined || table.expects) locked.push(index);
  });
  const groups = heldGroups(locked, needs);
  const held =
    proof.length === 0 ? groups : `SELECT grp FROM (${groups}) AS g WHERE (SELECT holds FROM proof)`;
  const conflicts = shape.tables.some((table) => table.conflicts !== undefined);
  if (conflicts) parts.push(`held AS MATERIALIZED (${held})`, ...refusedParts(shape.tables, array));
  else if (guards) parts.push(`ok AS MATERIALIZED (${held})`);
  parts.push(actionPart(actions));
  shape.tables.forEach((table, index) => {
    if (table.updates !== undefined) parts.push(...updateParts(table, table.updates, index));
    if (table.adds && table.conflicts === undefined) parts.push(insertPart(table, index, actions, array));
  });
  if (shape.events) parts.push(eventPart(actions, array));
  if (shape.keys) parts.push(keyPart(actions, array));
  if (shape.schedules) parts.push(schedulePart(actions, array));
  if (shape.cancellations) parts.push(cancellationPart(actions, array));
  if (shape.journal) parts.push(journalPart(actions, array));
  const applied = guards ? listOf('ok') : `'${ALL_APPLIED}'`;
  const proven =
    proof.length === 0
      ? applied
      : `CASE WHEN (SELECT holds FROM proof) THEN ${applied} ELSE '${UNPROVEN}' END`;
  return `WITH ${parts.join(',\n')}\nSELECT ${proven} AS applied${conflicts ? `, ${listOf('refused')} AS refused` : ''}`;
}

/** What a flush without guards answers: all its groups are applied, or it fails. */
export const ALL_APPLIED = 'all';

/** What a flush answers that may not fold the rows that it folds: nothing is applied. */
export const UNPROVEN = 'unproven';

/** Numbers of groups from 1, separated by commas. */
function listOf(groups: 'ok' | 'refused'): string {
  return `(SELECT coalesce(string_agg(grp::text, ','), '') FROM ${groups})`;
}

type NextParameter = (type: string) => string;

interface ActionParameters {
  readonly namespace: string;
  readonly ids: string;
  readonly names: string;
  readonly principals: string;
  readonly started: string;
  readonly completed: string;
  /** One JSON array, as are the payloads of events: no element of it needs to be quoted once more. */
  readonly params: string;
  /** Group of each action; undefined where each has its own. */
  readonly groups: string | undefined;
  /** Whether there is an `ok`. */
  readonly guarded: boolean;
}

function actionParameters(array: NextParameter, folded: boolean, guarded: boolean): ActionParameters {
  return {
    namespace: array('text'),
    ids: array('uuid[]'),
    names: array('text[]'),
    principals: array('text[]'),
    started: array('timestamptz[]'),
    completed: array('timestamptz[]'),
    params: array('jsonb'),
    groups: folded && guarded ? array('int[]') : undefined,
    guarded,
  };
}

function guardParts(table: TableShape, index: number, skipLocked: boolean, array: NextParameter): string[] {
  const parts: string[] = [];
  const sources: string[] = [];
  if (table.updates !== undefined) {
    const names: string[] = [];
    const types: string[] = [];
    for (const [number, { column, isFlagged }] of table.updates.columns.entries()) {
      names.push(`c${number}`);
      types.push(array(arrayType(column.descriptor.sqlType)));
      if (!isFlagged) continue;
      names.push(`f${number}`);
      types.push(array('bool[]'));
    }
    const keys = [array('int[]'), array('uuid[]'), array('bigint[]')];
    const step = hasSteps(table) ? [array('int[]')] : [];
    parts.push(
      `m${index} AS MATERIALIZED (SELECT * FROM unnest(${[...types, ...keys, ...step].join(', ')}) ` +
        `AS m(${[...names, 'grp', 'id', 'expected', ...step.map(() => 'step')].join(', ')}))`,
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
function heldGroups(locked: readonly number[], needs: string | undefined): string {
  const rows = locked.map((index) => `SELECT grp FROM l${index}`).join(' UNION ALL ');
  if (needs === undefined) return rows;
  const others = `SELECT grp::int FROM unnest(${needs}) WITH ORDINALITY AS n(need, grp) WHERE need = 0`;
  if (rows === '') return others;
  const complete = `SELECT grp FROM (${rows}) AS l GROUP BY grp HAVING count(*) = (${needs})[grp]`;
  return `${complete} UNION ALL ${others}`;
}

function proofPart({ tables }: FlushShape, array: NextParameter): readonly string[] {
  const conditions = tables.flatMap(({ model, proves }) =>
    proves === undefined ? [] : [foldingCondition(model, { ...proves, catalogVersion: array('xid') })],
  );
  return conditions.length === 0
    ? []
    : [`proof AS MATERIALIZED (SELECT ${conditions.join(' AND ')} AS holds)`];
}

/** Inserts rows of groups that are held; what remains of these groups is `ok`. */
function refusedParts(tables: readonly TableShape[], array: NextParameter): readonly string[] {
  const parts: string[] = [];
  const refused: string[] = [];
  tables.forEach((table, index) => {
    if (table.conflicts === undefined) return;
    parts.push(...conflictParts(table, index, array));
    refused.push(refusedPart(table, index));
  });
  return [
    ...parts,
    `refused AS MATERIALIZED (${refused.join(' UNION ALL ')})`,
    'ok AS MATERIALIZED (SELECT grp FROM held WHERE (grp IN (SELECT grp FROM refused)) IS NOT TRUE)',
  ];
}

/** No group has more than one row in all of these tables: one that is refused has inserted nothing. */
function conflictParts(table: TableShape, index: number, array: NextParameter): readonly string[] {
  const { model, conflicts = '' } = table;
  const columns = model.columns.map(({ column }) => quoteIdentifier(column)).join(', ');
  const names = model.columns.map((_, position) => `c${position}`).join(', ');
  const types = model.columns.map(({ sqlType }) => array(arrayType(sqlType)));
  return [
    `n${index} AS MATERIALIZED (SELECT * FROM unnest(${[...types, array('int[]')].join(', ')}) AS n(${names}, grp) ` +
      'WHERE (grp IN (SELECT grp FROM held)) = true)',
    `i${index} AS (INSERT INTO ${quoteIdentifier(model.table)} (${columns}) SELECT ${names} FROM n${index} ` +
      `ON CONFLICT ${conflicts} DO NOTHING RETURNING id)`,
  ];
}

function refusedPart({ model }: TableShape, index: number): string {
  const id = `c${RowCodec.of(model).idIndex}`;
  return `SELECT grp FROM n${index} WHERE (${id} IN (SELECT id FROM i${index})) IS NOT TRUE`;
}

const ACTION_COLUMNS = '(id, status, namespace, name, principal, started_date, completed_date, params)';

function actionPart(actions: ActionParameters): string {
  const { namespace, ids, names, principals, started, completed, params } = actions;
  return (
    `act AS (INSERT INTO eventlog.actions ${ACTION_COLUMNS} ` +
    `SELECT a.id, 'committed', ${namespace}, a.name, a.principal, a.started, a.completed, nullif(a.params, 'null') ` +
    `FROM ROWS FROM (unnest(${[ids, names, principals, started, completed].join(', ')}), jsonb_array_elements(${params})) ` +
    `WITH ORDINALITY AS a(id, name, principal, started, completed, params, nr)${whereApplied('a.nr', actions)})`
  );
}

/** Condition: the action with this number belongs to a group that is applied. */
function applied(number: string, { groups, guarded }: ActionParameters): string {
  if (!guarded) return 'true';
  return `(${groups === undefined ? number : `(${groups})[${number}]`} IN (SELECT grp FROM ok)) = true`;
}

function whereApplied(number: string, actions: ActionParameters): string {
  return actions.guarded ? ` WHERE ${applied(number, actions)}` : '';
}

const GROUP_APPLIED = '(grp IN (SELECT grp FROM ok)) = true';

/** Whether each row that is updated has a step of its own. */
export function hasSteps({ steps = 0 }: Pick<TableShape, 'steps'>): boolean {
  return steps > 1;
}

/** One per step. */
function updateParts(table: TableShape, set: UpdateColumns, index: number): readonly string[] {
  const { model, steps } = table;
  const update = updateText(model, set, index);
  if (steps === undefined) return [`u${index} AS (${update})`];
  return Array.from({ length: steps }, (_, step) => {
    const own = hasSteps(table) ? ` AND m.step = ${step}` : '';
    const after = step === 0 ? '' : ` AND ${isDone(index, step - 1)}`;
    return `u${index}s${step} AS (${update}${own}${after} RETURNING 1)`;
  });
}

/** Condition that is true, and known only when that step of the updates is done. */
function isDone(index: number, step: number): string {
  return `(SELECT count(*) FROM u${index}s${step}) >= 0`;
}

function updateText(model: ModelDescriptor, { columns }: UpdateColumns, index: number): string {
  const assignments = columns.map(({ column, isFlagged }, number) => {
    const name = quoteIdentifier(column.descriptor.column);
    return `${name} = ${isFlagged ? `CASE WHEN m.f${number} THEN m.c${number} ELSE t.${name} END` : `m.c${number}`}`;
  });
  return (
    `UPDATE ${quoteIdentifier(model.table)} AS t SET ${assignments.join(', ')} ` +
    `FROM m${index} AS m WHERE t.id = m.id AND t.version = m.expected AND ${GROUP_APPLIED}`
  );
}

function insertPart(
  { model, steps }: TableShape,
  index: number,
  { guarded }: ActionParameters,
  array: NextParameter,
): string {
  const columns = model.columns.map(({ column }) => quoteIdentifier(column)).join(', ');
  const names = model.columns.map((_, position) => `c${position}`).join(', ');
  const types = model.columns.map(({ sqlType }) => array(arrayType(sqlType)));
  const conditions = guarded ? [GROUP_APPLIED] : [];
  if (steps !== undefined) conditions.push(isDone(index, steps - 1));
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return (
    `i${index} AS (INSERT INTO ${quoteIdentifier(model.table)} (${columns}) ` +
    `SELECT ${names} FROM unnest(${[...types, array('int[]')].join(', ')}) AS n(${names}, grp)${where})`
  );
}

function eventPart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'uuid[]', 'text[]', 'text[]', 'text[]', 'bigint[]', 'int[]', 'text[]'];
  return (
    'ev AS (INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, ' +
    'created_date, model_version, event_version, trace_context) ' +
    `SELECT e.id, (${actions.ids})[e.nr], ${actions.namespace}, e.model_id, e.model_name, e.event_type, e.payload, ` +
    `(${actions.completed})[e.nr], e.model_version, e.event_version, e.trace_context ` +
    `FROM ROWS FROM (unnest(${types.map(array).join(', ')}), jsonb_array_elements(${array('jsonb')})) ` +
    'AS e(nr, id, model_id, model_name, event_type, model_version, event_version, trace_context, payload)' +
    `${whereApplied('e.nr', actions)})`
  );
}

function schedulePart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'uuid[]', 'timestamptz[]', 'text[]', 'jsonb[]', 'int[]', 'text[]'];
  return (
    'sc AS (INSERT INTO eventlog.schedules (id, due_date, next_date, action_name, params, params_version, principal, action_id, ' +
    'trace_context, created_date) SELECT s.id, s.due, s.due, s.action_name, s.params, s.params_version, ' +
    `(${actions.principals})[s.nr], (${actions.ids})[s.nr], s.trace_context, (${actions.completed})[s.nr] ` +
    `FROM unnest(${types.map(array).join(', ')}) AS s(nr, id, due, action_name, params, params_version, trace_context) ` +
    `${whereApplied('s.nr', actions)})`
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
    `AS k(nr, operation, key, fingerprint, target_group, target_member, result, expires)${whereApplied('k.nr', actions)})`
  );
}

/** An entry has the id of its plan's first action, and belongs to that execution until it had time to end. */
function journalPart(actions: ActionParameters, array: NextParameter): string {
  const types = ['int[]', 'jsonb[]', 'bigint[]'];
  return (
    'j AS (INSERT INTO eventlog.journal (id, action_name, principal, started_date, legs, lease_owner, lease_expires_date) ' +
    `SELECT (${actions.ids})[j.nr], (${actions.names})[j.nr], (${actions.principals})[j.nr], (${actions.started})[j.nr], ` +
    `j.legs, (${actions.ids})[j.nr], clock_timestamp() + j.hold * interval '1 millisecond' ` +
    `FROM unnest(${types.map(array).join(', ')}) AS j(nr, legs, hold)${whereApplied('j.nr', actions)})`
  );
}
