import { uuid7 } from '../../domain/id-source.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { Statement } from '../../sharding/shard-database.js';
import type { EventCatalog } from '../codec/event-catalog.js';
import type { FlushRequest } from '../shard-store.js';
import * as eventlog from './eventlog-tables.js';
import { foldGroup } from './folded-group.js';
import type { PlanWrite } from './plan-write.js';
import { cte, StatementBuilder, where } from './statement-builder.js';
import { ALL_APPLIED, MERGED, SINGLE, type StatementForm } from './statement-form.js';
import {
  type BoundRows,
  type Cell,
  type InsertedTable,
  insertText,
  type NumberedRow,
  updatedValue,
} from './statement-rows.js';
import { changesByTable, isGuarded, type TableChanges } from './table-changes.js';
import { bindNumbers, checkVersions, isChecked, OK, type VersionChecks } from './version-checks.js';

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
  readonly #withdrawn: ReadonlySet<string>;
  readonly #plans: readonly NumberedRow<PlanWrite>[];
  readonly #tables: readonly TableChanges[];
  readonly #form: StatementForm;
  readonly #builder: StatementBuilder;
  readonly #actions: BoundRows;
  /** Array with the group of each plan. Undefined: plans have the numbers of their groups. */
  readonly #groups: string | undefined = undefined;
  /** Undefined: no group can be left out because of a row. */
  readonly #checks: VersionChecks | undefined = undefined;
  /** Names of the expressions that write to `eventlog`. */
  #written = '';

  constructor({ groups, locked }: FlushRequest, origin: FlushOrigin) {
    const plans = groups.flat();
    const changes = groups.map(foldGroup);
    this.#origin = origin;
    this.#withdrawn = withdrawnIn(groups);
    this.#plans = plans.map((row, index) => ({ number: index + 1, row }));
    this.#tables = changesByTable(changes);
    this.#form = isSingle(plans) ? SINGLE : MERGED;
    this.#builder = new StatementBuilder(origin.namespace);
    this.#actions = this.#bind('r', eventlog.ACTIONS.cells, this.#plans);
    if (!this.#tables.some(isGuarded)) return;
    if (plans.length > groups.length) {
      const numbers = groups.flatMap((group, index) => group.map(() => index + 1));
      this.#groups = bindNumbers(this.#builder, numbers);
    }
    this.#checks = checkVersions(this.#builder, this.#form, { changes, tables: this.#tables, locked });
  }

  write(): Statement {
    this.#insert('act', eventlog.ACTIONS, this.#actions);
    for (const table of this.#tables) {
      this.#update(table);
      this.#add(table);
    }
    this.#record('ev', eventlog.EVENTS, (plan) => eventsOf(plan, this.#origin));
    this.#record('k', eventlog.KEYS, ({ key }) => key && [key]);
    this.#record('sc', eventlog.SCHEDULES, ({ schedules, traceContext }) => {
      return schedules?.map((row) => ({ ...row, traceContext, isCancelled: this.#withdrawn.has(row.id) }));
    });
    this.#record('j', eventlog.JOURNAL, ({ journal }) => journal && [journal]);
    this.#cancel();
    // What the text depends on.
    let key = `${this.#form === SINGLE} ${this.#checks?.key} ${this.#written} ${this.#groups}`;
    for (const { table, sets, adds, expects, steps } of this.#tables)
      key += `;${table.id} ${sets?.key} ${adds.length > 0} ${expects.length > 0} ${steps?.count}`;
    return this.#builder.statement(() => {
      const applied = this.#checks === undefined ? `'${ALL_APPLIED}'` : this.#form.list(cte(OK));
      return `SELECT ${applied} AS applied, pg_current_xact_id()::xid AS revision`;
    }, key);
  }

  /** One statement for each step. */
  #update({ table, index, sets, steps }: TableChanges): void {
    const rows = this.#checks?.updates[index];
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
    const rows = rowsOf(this.#plans, of);
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
    const ids = rowsOf(this.#plans, ({ cancelledSchedules }) => cancelledSchedules);
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

  #bind<R>(alias: string, cells: readonly Cell<R>[], rows: readonly NumberedRow<R>[]): BoundRows {
    return this.#form.bind(this.#builder, alias, cells, rows);
  }

  /** The group of the plan of a row. */
  #groupOf({ number }: BoundRows): string {
    return this.#groups === undefined ? number : `(${this.#groups})[${number}]`;
  }

  /** Condition: the group is applied. Undefined: every group is. */
  #isApplied(group: string): string | undefined {
    return this.#checks === undefined ? undefined : this.#form.isIn(group, cte(OK));
  }
}

/**
 * Ids of scheduled actions that a plan of a chain cancels. Where the chain has scheduled them as well, their rows are
 * inserted as cancelled, because an update does not see what its statement inserts.
 */
function withdrawnIn(groups: FlushRequest['groups']): ReadonlySet<string> {
  const chains = groups.filter(({ length }) => length > 1);
  return new Set(chains.flatMap((plans) => plans.flatMap((plan) => plan.cancelledSchedules ?? [])));
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

/** The rows that plans bring, with the numbers of the plans. */
function rowsOf<R>(plans: readonly NumberedRow<PlanWrite>[], of: RowsOfPlan<R>): readonly NumberedRow<R>[] {
  const rows: NumberedRow<R>[] = [];
  for (const { number, row } of plans) for (const each of of(row) ?? []) rows.push({ number, row: each });
  return rows;
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
