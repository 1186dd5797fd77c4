import { uuid7 } from '../../domain/id-source.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { Statement } from '../../sharding/shard-database.js';
import type { EventCatalog } from '../codec/event-catalog.js';
import { INT } from '../codec/parameter-kind.js';
import type { FlushRequest, LockedRows } from '../shard-store.js';
import * as eventlog from './eventlog-tables.js';
import { foldGroup, type RowChange } from './folded-group.js';
import type { PlanWrite } from './plan-write.js';
import { cte, StatementBuilder, where } from './statement-builder.js';
import { ALL_APPLIED, MERGED, SINGLE, type StatementForm } from './statement-form.js';
import {
  type BoundRows,
  type Cell,
  CHECK,
  cell,
  type InsertedTable,
  insertText,
  type NumberedRow,
  updateCells,
  updatedValue,
} from './statement-rows.js';
import { changesByTable, isGuarded, type TableChanges } from './table-changes.js';

/** What the statements of one shard have in common. */
export interface FlushOrigin {
  readonly shard: ShardIdentifier;
  readonly namespace: string;
  readonly events: EventCatalog;
}

/**
 * The statement that applies these groups.
 *
 * @throws ValidationError if a value does not fit its column
 */
export function flushStatement(request: FlushRequest, origin: FlushOrigin): Statement {
  return new FlushStatement(request, origin).write();
}

/** What a plan brings for one table. */
type RowsOfPlan<R> = (plan: PlanWrite) => readonly R[] | undefined;

/** What follows the locking clause. */
const AT_LOCKED_ROWS: Readonly<Record<LockedRows, string>> = {
  wait: '',
  skip: ' SKIP LOCKED',
  refuse: ' NOWAIT',
};
/** Groups whose versions match. */
const OK = 'ok';

/**
 * Groups of plans as one statement, in which each group is all-or-nothing by itself. Groups and plans are numbered from
 * 1; without folding they are the same. In order of dependence:
 *
 * 1. `m*`: rows to update; `ok`: groups whose every row that is checked has its version. It locks these rows, those of
 *    each table in id order. Everything below is written for these groups alone.
 * 2. `act`, `u*`, `i*`, `ev`, `k`, `sc`, `j`, `x`: the rows of the actions, updates, inserts, records. The row of an
 *    action that was fenced is a unique violation, and so is a key that is taken: the writer splits the statement until
 *    the guilty plan stands alone.
 *
 * Two deposits, shortened:
 *
 *     WITH "fw.m0" AS (SELECT * FROM unnest('{1,2}', '{8,3}', '{120,75}', ...) AS m(nr, c2, c3, id, expected)),
 *     "fw.ok" AS (SELECT m.nr AS grp FROM "fw.m0" AS m JOIN wallets AS t ON t.id = m.id
 *       WHERE t.version = m.expected ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED),
 *     "fw.act" AS (INSERT INTO eventlog.actions ... WHERE r.nr IN (SELECT grp FROM "fw.ok")),
 *     "fw.u0s0" AS (UPDATE wallets AS t SET version = m.c2, balance = m.c3 FROM "fw.m0" AS m
 *       WHERE t.id = m.id AND t.version = m.expected AND m.nr IN (SELECT grp FROM "fw.ok")),
 *     "fw.ev" AS (INSERT INTO eventlog.events ... WHERE r.nr IN (SELECT grp FROM "fw.ok"))
 *     SELECT (SELECT string_agg(grp::text, ',') FROM "fw.ok") AS applied   -- '1,2', or '2' if the first is stale
 */
class FlushStatement {
  readonly #origin: FlushOrigin;
  readonly #plans: readonly NumberedRow<PlanWrite>[];
  /** Of each group. */
  readonly #changes: readonly (readonly RowChange[])[];
  readonly #tables: readonly TableChanges[];
  readonly #lock: string;
  /** Some group may be left out because of a row. */
  readonly #isGuarded: boolean;
  readonly #form: StatementForm;
  readonly #builder: StatementBuilder;
  readonly #actions: BoundRows;
  /** Array with the group of each plan. Undefined: plans have the numbers of their groups. */
  readonly #groups: string | undefined = undefined;
  /** By index of the table. */
  readonly #updates: BoundRows[] = [];
  /** Names of the expressions that write to `eventlog`. */
  #written = '';
  /** Whether each group has one row whose version is checked. */
  #hasOneCheckEach = true;

  constructor({ groups, locked }: FlushRequest, origin: FlushOrigin) {
    const plans = groups.flat();
    this.#origin = origin;
    this.#plans = plans.map((row, index) => ({ number: index + 1, row }));
    this.#changes = groups.map(foldGroup);
    this.#tables = changesByTable(this.#changes);
    this.#lock = `FOR NO KEY UPDATE OF t${AT_LOCKED_ROWS[locked]}`;
    this.#isGuarded = this.#tables.some(isGuarded);
    this.#form = isSingle(plans) ? SINGLE : MERGED;
    this.#builder = new StatementBuilder(origin.namespace);
    this.#actions = this.#bind('r', eventlog.ACTIONS.cells, this.#plans);
    if (this.#isGuarded && plans.length > groups.length)
      this.#groups = this.#bindNumbers(groups.flatMap((group, index) => group.map(() => index + 1)));
  }

  write(): Statement {
    if (this.#isGuarded) this.#check();
    this.#insert('act', eventlog.ACTIONS, this.#actions);
    for (const table of this.#tables) {
      this.#update(table);
      this.#add(table);
    }
    this.#record('ev', eventlog.EVENTS, (plan) => eventsOf(plan, this.#origin));
    this.#record('k', eventlog.KEYS, ({ key }) => key && [key]);
    this.#record('sc', eventlog.SCHEDULES, ({ schedules, traceContext }) => {
      return schedules?.map((schedule) => ({ ...schedule, traceContext }));
    });
    this.#record('j', eventlog.JOURNAL, ({ journal }) => journal && [journal]);
    this.#cancel();
    return this.#builder.statement(() => {
      const applied = this.#isGuarded ? this.#form.list(cte(OK)) : `'${ALL_APPLIED}'`;
      return `SELECT ${applied} AS applied, pg_current_xact_id()::xid AS revision`;
    }, this.#key());
  }

  /** What the text depends on. */
  #key(): string {
    let key = `${this.#form === SINGLE} ${this.#lock} ${this.#written} ${this.#hasOneCheckEach} ${this.#groups}`;
    for (const { table, sets, adds, expects, steps } of this.#tables)
      key += `;${table.id} ${sets?.key} ${adds.length > 0} ${expects.length > 0} ${steps?.count}`;
    return key;
  }

  /** Determines the groups whose versions match: those with as many locked rows as they have checks. */
  #check(): void {
    const checked = this.#tables.filter(({ sets, expects }) => sets !== undefined || expects.length > 0);
    const isSingle = this.#form === SINGLE;
    const counts = isSingle ? [] : this.#changes.map((rows) => rows.filter(isChecked).length);
    this.#hasOneCheckEach = counts.every((count) => count === 1);
    const checks = this.#hasOneCheckEach ? '' : this.#bindNumbers(counts);
    const locks = checked.map((table) => this.#lockRows(table));
    this.#builder.select(OK, () => {
      const locked = locks.map((sql) => `SELECT grp FROM (${sql()}) AS l`).join(' UNION ALL ');
      return this.#hasOneCheckEach ? locked : completeGroups(locked, checks);
    });
  }

  /** Locks the rows of a table whose versions are checked, if they match. @returns SQL: their groups */
  #lockRows({ table, index, sets, updates, expects, steps }: TableChanges): () => string {
    const sources: BoundRows[] = [];
    if (sets !== undefined) {
      const step = steps && steps.count > 1 ? [cell('step', INT, steps.of)] : [];
      const bound = this.#bind('m', [...updateCells(sets), ...step], updates);
      const rows = this.#share('m', index, bound);
      this.#updates[index] = rows;
      sources.push(rows);
    }
    if (expects.length > 0) sources.push(this.#bind('x', CHECK, expects));
    return () => {
      const checks = sources.map(({ number, cell, from }) => {
        const [id, expected, revision] = CHECK.map(({ name }) => `${cell(name)} AS ${name}`);
        return `SELECT ${number} AS nr, ${id}, ${expected}, ${revision}${from}`;
      });
      return (
        `SELECT g.nr AS grp FROM (${checks.join(' UNION ALL ')}) AS g JOIN ${table.name} AS t ON t.id = g.id ` +
        `WHERE t.version = g.expected AND (g.revision IS NULL OR t.xmin = g.revision) ORDER BY t.id ${this.#lock}`
      );
    };
  }

  /** One statement for each step. */
  #update({ table, index, sets, steps }: TableChanges): void {
    const rows = this.#updates[index];
    if (sets === undefined || rows === undefined) return;
    const count = steps?.count ?? 1;
    for (let step = 0; step < count; step += 1) {
      this.#builder.modify(stepName(index, step), () => {
        const assignments = sets.columns.map((set) => {
          return `${table.columns[set.position]?.name} = ${updatedValue(set, rows.cell)}`;
        });
        const update = `UPDATE ${table.name} AS t SET ${assignments.join(', ')}${rows.from}`;
        const hasVersion = `t.id = ${rows.cell('id')} AND t.version = ${rows.cell('expected')}`;
        const own = count === 1 ? undefined : `${rows.cell('step')} = ${step}`;
        const after = step === 0 ? undefined : isDone(index, step - 1);
        const conditions = where(hasVersion, this.#isApplied(rows.number), own, after);
        return `${update}${conditions}${steps === undefined ? '' : ' RETURNING 1'}`;
      });
    }
  }

  #add({ table, index, adds, steps }: TableChanges): void {
    if (adds.length === 0) return;
    const rows = this.#bind('n', table.cells, adds);
    this.#builder.modify(`i${index}`, () => {
      const after = steps && isDone(index, steps.count - 1);
      return insertText(table, rows, this.#actions) + where(this.#isApplied(rows.number), after);
    });
  }

  /** Writes what plans leave in a table of `eventlog`. */
  #record<R>(name: string, table: InsertedTable<R>, of: RowsOfPlan<R>): void {
    const rows = this.#rowsOf(of);
    if (rows.length === 0) return;
    this.#insert(name, table, this.#bind('r', table.cells, rows));
  }

  /** @param rows with the numbers of their plans */
  #insert<R>(name: string, table: InsertedTable<R>, rows: BoundRows): void {
    this.#written += name;
    this.#builder.modify(name, () => {
      return insertText(table, rows, this.#actions) + where(this.#isApplied(this.#groupOf(rows)));
    });
  }

  /** Takes scheduled actions back. What is running cannot be taken back any more. */
  #cancel(): void {
    const ids = this.#rowsOf(({ cancelledSchedules }) => cancelledSchedules);
    if (ids.length === 0) return;
    this.#written += 'x';
    const rows = this.#bind('r', eventlog.CANCELLATIONS, ids);
    this.#builder.modify('x', () => {
      const completed = this.#actions.cellOf(rows.number, 'completed_date');
      const isPending = `s.id = ${rows.cell('id')} AND s.state IN ('pending', 'failed')`;
      const update = `UPDATE eventlog.schedules AS s SET state = 'cancelled', completed_date = ${completed}`;
      return update + rows.from + where(isPending, this.#isApplied(this.#groupOf(rows)));
    });
  }

  /** The rows that plans bring, with the numbers of the plans. */
  #rowsOf<R>(of: RowsOfPlan<R>): readonly NumberedRow<R>[] {
    const rows: NumberedRow<R>[] = [];
    for (const { number, row } of this.#plans)
      for (const each of of(row) ?? []) rows.push({ number, row: each });
    return rows;
  }

  #bind<R>(alias: string, cells: readonly Cell<R>[], rows: readonly NumberedRow<R>[]): BoundRows {
    return this.#form.bind(this.#builder, alias, cells, rows);
  }

  #bindNumbers(numbers: readonly number[]): string {
    return this.#builder.bind(INT.many(numbers, Number), INT.manyType);
  }

  /** Rows to which several expressions refer, unless they are parameters. */
  #share(alias: string, index: number, rows: BoundRows): BoundRows {
    if (rows.from === '') return rows;
    const name = alias + index;
    this.#builder.select(name, () => `SELECT *${rows.from}`);
    return { ...rows, from: ` FROM ${cte(name)} AS ${alias}` };
  }

  /** The group of the plan of a row. */
  #groupOf({ number }: BoundRows): string {
    return this.#groups === undefined ? number : `(${this.#groups})[${number}]`;
  }

  /** Condition: the group is applied. Undefined: every group is. */
  #isApplied(group: string): string | undefined {
    return this.#isGuarded ? this.#form.isIn(group, cte(OK)) : undefined;
  }
}

/** Whether it is one plan with at most one row of each kind. */
function isSingle([plan, second]: readonly PlanWrite[]): boolean {
  if (plan === undefined || second !== undefined) return false;
  const { schedules = [], cancelledSchedules = [], items } = plan;
  let [checked, events] = [0, 0];
  for (const item of items) {
    if (isChecked(item)) checked += 1;
    if (item.kind !== 'expect') events += item.events.length;
  }
  const adds = items.length - checked;
  return Math.max(adds, checked, events, schedules.length, cancelledSchedules.length) <= 1;
}

function isChecked({ kind }: Pick<RowChange, 'kind'>): boolean {
  return kind !== 'add';
}

function eventsOf(
  { items, traceContext }: PlanWrite,
  { shard, events }: FlushOrigin,
): readonly eventlog.EventRow[] {
  const rows: eventlog.EventRow[] = [];
  for (const item of items) {
    if (item.kind === 'expect') continue;
    for (const event of item.events) {
      const [id, known] = [uuid7.next(shard.bits), events.of(event)];
      rows.push({ id, event, known, modelVersion: item.model.version, traceContext });
    }
  }
  return rows;
}

function stepName(index: number, step: number): string {
  return `u${index}s${step}`;
}

/**
 * Condition that is always true, and known only when that step of the updates is done: PostgreSQL runs expressions that
 * write in any order, unless one reads another.
 */
function isDone(index: number, step: number): string {
  return `(SELECT count(*) FROM ${cte(stepName(index, step))}) >= 0`;
}

/** Groups that have as many of these rows as they have checks, or none to check. */
function completeGroups(rows: string, checks: string): string {
  const others = `SELECT grp::int FROM unnest(${checks}) WITH ORDINALITY AS n(checks, grp) WHERE checks = 0`;
  if (rows === '') return others;
  return `SELECT grp FROM (${rows}) AS l GROUP BY grp HAVING count(*) = (${checks})[grp] UNION ALL ${others}`;
}
