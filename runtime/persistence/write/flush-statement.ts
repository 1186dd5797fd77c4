import { uuid7 } from '../../domain/id-source.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { Statement } from '../../sharding/shard-database.js';
import type { EventCatalog } from '../codec/event-catalog.js';
import { INT, TEXT } from '../codec/parameter-kind.js';
import type { FlushRequest } from '../shard-store.js';
import * as eventlog from './eventlog-tables.js';
import { foldGroup, type RowChange } from './folded-group.js';
import { foldingCondition } from './folding-rules.js';
import { keepStatement, knownStatement, shapeOf } from './plan-statements.js';
import type { PlanWrite } from './plan-write.js';
import { refusedText, rowsText } from './row-check.js';
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
  type PlanFacts,
  updateCells,
  updatedValue,
} from './statement-rows.js';
import { changesByTable, type FlushRules, isGuarded, type TableChanges } from './table-changes.js';

/** Answer of a flush that folds rows which may not be folded: nothing was applied. */
export const UNPROVEN = 'unproven';

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
 * @throws FoldingOutdated if a row is folded that may not be
 */
export function flushStatement(
  request: FlushRequest,
  origin: FlushOrigin,
  rules: FlushRules = {},
): Statement {
  const changes = request.groups.map(foldGroup);
  const plan = singlePlan(request);
  const shape = rules.checks === undefined ? plan && shapeOf(plan, request.locked) : undefined;
  if (plan === undefined || shape === undefined)
    return new FlushStatement(request, changes, rules, origin).write((each) => eventsOf(each, origin));
  const events = eventsOf(plan, origin);
  const { key, journal, schedules = [], cancelledSchedules = [] } = plan;
  const rows = [
    origin,
    plan,
    ...changes.flat(),
    ...events,
    key,
    journal,
    ...schedules,
    ...cancelledSchedules,
  ];
  const known = knownStatement(shape, rows);
  if (known !== undefined) return known;
  const writer = new FlushStatement(request, changes, rules, origin);
  const statement = writer.write(() => events);
  keepStatement(shape, rows, statement, writer.bound);
  return statement;
}

function singlePlan({ groups: [group, other] }: FlushRequest): PlanWrite | undefined {
  const [plan, second] = group ?? [];
  return second === undefined && other === undefined ? plan : undefined;
}

/** What a plan brings for one table. */
type RowsOfPlan<R> = (plan: PlanWrite) => readonly R[] | undefined;

const NAMESPACE: Cell<FlushOrigin> = cell('namespace', TEXT, ({ namespace }) => namespace);

/** Groups whose versions match, those of them that a constraint refuses, and the others. */
const [HELD, REFUSED, OK] = [cte('held'), cte('refused'), cte('ok')];

/**
 * Groups of plans as one statement, in which each group is all-or-nothing by itself. Groups and plans are numbered from
 * 1; without folding they are the same. In order of dependence:
 *
 * 1. `m*`: rows to update; `l*`: rows whose version is checked and matches, locked in id order; `ok`: groups whose every
 *    check holds. Everything below is written for these groups alone. A single plan has at most one row to check, and
 *    `ok` locks it itself.
 *    Where constraints are evaluated, these groups are `held`; `n*` are the rows to insert, `r*` all rows as they will
 *    be, `refused` the groups that a constraint refuses, and `ok` is what remains.
 * 2. `act`, `u*`, `i*`, `ev`, `k`, `sc`, `j`, `x`: the rows of the actions, updates, inserts, records. The row of an
 *    action that was fenced is a unique violation, and so is a key that is taken: the writer splits the statement until
 *    the guilty plan stands alone.
 */
class FlushStatement {
  readonly #plans: readonly NumberedRow<PlanWrite>[];
  /** Of each group. */
  readonly #changes: readonly (readonly RowChange[])[];
  readonly #tables: readonly TableChanges[];
  readonly #lock: string;
  /** Some group may be left out because of a row. */
  readonly #isGuarded: boolean;
  readonly #form: StatementForm;
  readonly #builder: StatementBuilder = new StatementBuilder();
  readonly #facts: PlanFacts;
  /** Array with the group of each plan. Undefined: plans have the numbers of their groups. */
  readonly #groups: string | undefined;
  /** By index of the table. */
  readonly #updates: BoundRows[] = [];
  readonly #adds: BoundRows[] = [];

  constructor(
    { groups, locked }: FlushRequest,
    changes: readonly (readonly RowChange[])[],
    rules: FlushRules,
    origin: FlushOrigin,
  ) {
    const plans = groups.flat();
    this.#plans = plans.map((row, index) => ({ number: index + 1, row }));
    this.#changes = changes;
    this.#tables = changesByTable(changes, rules);
    this.#lock = `FOR NO KEY UPDATE OF t${locked === 'skip' ? ' SKIP LOCKED' : ''}`;
    this.#isGuarded = this.#tables.some(isGuarded);
    this.#form = isSingle(plans, this.#tables) ? SINGLE : MERGED;
    this.#facts = {
      namespace: this.#builder.bindCell(origin, NAMESPACE),
      plans: this.#bind('r', eventlog.PLAN, this.#plans),
    };
    const isFolded = this.#isGuarded && plans.length > groups.length;
    this.#groups = isFolded ? this.#bindNumbers(groupsOfPlans(groups)) : undefined;
  }

  /** The parameters that rows give one by one. */
  get bound(): StatementBuilder['bound'] {
    return this.#builder.bound;
  }

  write(eventsOf: RowsOfPlan<eventlog.EventRow>): Statement {
    const proof = this.#prove();
    const mayRefuse = this.#tables.some(({ checks }) => checks !== undefined);
    if (this.#isGuarded) this.#check(mayRefuse ? HELD : OK, proof);
    if (mayRefuse) this.#refuse();
    this.#insert('act', eventlog.ACTIONS, this.#facts.plans);
    for (const table of this.#tables) {
      this.#update(table);
      this.#add(table);
    }
    this.#record('ev', eventlog.EVENTS, eventsOf);
    this.#record('k', eventlog.KEYS, ({ key }) => key && [key]);
    this.#record('sc', eventlog.SCHEDULES, ({ schedules }) => schedules);
    this.#record('j', eventlog.JOURNAL, ({ journal }) => journal && [journal]);
    this.#cancel();
    const applied = this.#isGuarded ? this.#form.list(OK) : `'${ALL_APPLIED}'`;
    const proven = proof === '' ? applied : `CASE WHEN ${proof} THEN ${applied} ELSE '${UNPROVEN}' END`;
    return this.#builder.statement(
      `SELECT ${proven} AS applied${mayRefuse ? `, ${LIST_OF_REFUSED} AS refused` : ''}`,
    );
  }

  /** Condition: all tables whose rows are folded may be folded. Empty if none is. */
  #prove(): string {
    const proofs = this.#tables.flatMap(({ codec: { model }, shape }) => {
      return shape === undefined ? [] : [foldingCondition(model, this.#builder.bind(shape, 'bigint'))];
    });
    return proofs.join(' AND ');
  }

  /** Determines the groups whose versions match: those with as many locked rows as they have checks. */
  #check(name: string, proof: string): void {
    const checked = this.#tables.filter(({ sets, expects }) => sets !== undefined || expects.length > 0);
    if (this.#form === SINGLE) {
      for (const table of checked) this.#checkRow(table);
      return;
    }
    const counts = this.#changes.map((rows) => rows.filter(({ kind }) => kind !== 'add').length);
    const hasOneEach = counts.every((count) => count === 1);
    const checks = hasOneEach ? '' : this.#bindNumbers(counts);
    const locked = checked.map((table) => `SELECT grp FROM ${this.#lockRows(table)}`).join(' UNION ALL ');
    const complete = hasOneEach ? locked : completeGroups(locked, checks);
    this.#builder.select(name, proof === '' ? complete : `SELECT grp FROM (${complete}) AS g WHERE ${proof}`);
  }

  /** Locks the only row that is checked, if it has its version. */
  #checkRow(changes: TableChanges): void {
    const { table, index, updates, expects } = changes;
    const rows = this.#bind('t', checkedCells(changes), [...updates, ...expects]);
    this.#updates[index] = rows;
    this.#builder.select(OK, `SELECT FROM ${table.name} AS t WHERE ${hasVersion(rows)} ${this.#lock}`);
  }

  /** Locks the rows of a table whose versions are checked. */
  #lockRows(changes: TableChanges): string {
    const { table, index, updates, expects } = changes;
    const sources: BoundRows[] = [];
    if (updates.length > 0) {
      const rows = this.#share(cte('m', index), 'm', this.#bind('m', checkedCells(changes), updates));
      this.#updates[index] = rows;
      sources.push(rows);
    }
    if (expects.length > 0) sources.push(this.#bind('x', CHECK, expects));
    const checks = sources.map(({ from }) => `SELECT nr, id, expected${from}`).join(' UNION ALL ');
    return this.#builder.select(
      cte('l', index),
      `SELECT g.nr AS grp FROM (${checks}) AS g JOIN ${table.name} AS t ON t.id = g.id ` +
        `WHERE t.version = g.expected ORDER BY t.id ${this.#lock}`,
    );
  }

  /** Evaluates constraints for the rows of groups that are held; what remains of these groups is `ok`. */
  #refuse(): void {
    const refused: string[] = [];
    for (const changes of this.#tables) {
      const { table, index, adds, checks = [] } = changes;
      const [first] = checks;
      if (first === undefined) continue;
      if (adds.length > 0) {
        const rows = this.#bind('n', table.cells, adds);
        this.#adds[index] = this.#share(cte('n', index), 'n', rows, this.#form.isIn(rows.number, HELD));
      }
      this.#builder.select(cte('r', index), rowsText(changes, first.check.types));
      for (const stated of checks) {
        const oid = this.#builder.bind(stated.check.oid, 'oid');
        const version = this.#builder.bind(stated.check.version, 'xid');
        refused.push(refusedText({ stated, table: changes, oid, version }));
      }
    }
    this.#builder.select(REFUSED, refused.join(' UNION ALL '));
    this.#builder.select(
      OK,
      `SELECT grp FROM ${HELD} WHERE (grp IN (SELECT grp FROM ${REFUSED})) IS NOT TRUE`,
    );
  }

  /** One statement for each step, or for all rows. */
  #update({ table, index, sets, steps }: TableChanges): void {
    const rows = this.#updates[index];
    if (sets === undefined || rows === undefined) return;
    const assignments = sets.columns.map((set) => {
      return `${table.columns[set.position]?.name} = ${updatedValue(set, rows.cell)}`;
    });
    const update = `UPDATE ${table.name} AS t SET ${assignments.join(', ')}${rows.from}`;
    const applies = [hasVersion(rows), this.#isApplied(rows.number)];
    if (steps === undefined) this.#builder.modify(cte('u', index), update + where(...applies));
    for (let step = 0; step < (steps?.count ?? 0); step += 1) {
      const own = steps?.count === 1 ? undefined : `${rows.cell('step')} = ${step}`;
      const after = step === 0 ? undefined : isDone(index, step - 1);
      this.#builder.modify(stepCte(index, step), `${update}${where(...applies, own, after)} RETURNING 1`);
    }
  }

  #add({ table, index, adds, steps }: TableChanges): void {
    if (adds.length === 0) return;
    const rows = this.#adds[index] ?? this.#bind('n', table.cells, adds);
    const after = steps && isDone(index, steps.count - 1);
    this.#builder.modify(
      cte('i', index),
      insertText(table, rows, this.#facts) + where(this.#isApplied(rows.number), after),
    );
  }

  /** Writes what plans leave in a table of `eventlog`. */
  #record<R>(name: string, table: InsertedTable<R>, of: RowsOfPlan<R>): void {
    const rows = this.#rowsOf(of);
    if (rows.length === 0) return;
    this.#insert(name, table, this.#bind('r', table.cells, rows));
  }

  /** @param rows with the numbers of their plans */
  #insert<R>(name: string, table: InsertedTable<R>, rows: BoundRows): void {
    const insert = insertText(table, rows, this.#facts);
    this.#builder.modify(cte(name), insert + where(this.#isApplied(this.#groupOf(rows))));
  }

  /** Takes scheduled actions back. What is running cannot be taken back any more. */
  #cancel(): void {
    const ids = this.#rowsOf(({ cancelledSchedules }) => cancelledSchedules);
    if (ids.length === 0) return;
    const rows = this.#bind('r', eventlog.CANCELLATIONS, ids);
    const completed = this.#facts.plans.cellOf(rows.number, 'completed_date');
    const isPending = `s.id = ${rows.cell('id')} AND s.state IN ('pending', 'failed')`;
    this.#builder.modify(
      cte('x'),
      `UPDATE eventlog.schedules AS s SET state = 'cancelled', completed_date = ${completed}${rows.from}` +
        where(isPending, this.#isApplied(this.#groupOf(rows))),
    );
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

  /** Rows to which several expressions refer. @param condition on each of them */
  #share(name: string, alias: string, rows: BoundRows, condition?: string): BoundRows {
    this.#builder.select(name, `SELECT *${rows.from}${where(condition)}`);
    return { ...rows, from: ` FROM ${name} AS ${alias}` };
  }

  /** The group of the plan of a row. */
  #groupOf({ number }: BoundRows): string {
    return this.#groups === undefined ? number : `(${this.#groups})[${number}]`;
  }

  /** Condition: the group is applied. Undefined: every group is. */
  #isApplied(group: string): string | undefined {
    return this.#isGuarded ? this.#form.isIn(group, OK) : undefined;
  }
}

/** The group of each plan, from 1. */
function groupsOfPlans(groups: FlushRequest['groups']): readonly number[] {
  return groups.flatMap((group, index) => group.map(() => index + 1));
}

/** Whether it is one plan with at most one row of each kind, and needs nothing that only the merged form has. */
function isSingle([plan, second]: readonly PlanWrite[], tables: readonly TableChanges[]): boolean {
  if (plan === undefined || second !== undefined || !tables.every(isSimple)) return false;
  const { schedules = [], cancelledSchedules = [], items } = plan;
  const events = items.flatMap((item) => (item.kind === 'expect' ? [] : item.events));
  const adds = items.filter(({ kind }) => kind === 'add');
  const checked = items.filter(({ kind }) => kind !== 'add');
  return [events, adds, checked, schedules, cancelledSchedules].every(({ length }) => length <= 1);
}

function eventsOf({ items }: PlanWrite, { shard, events }: FlushOrigin): readonly eventlog.EventRow[] {
  const rows: eventlog.EventRow[] = [];
  for (const item of items) {
    if (item.kind === 'expect') continue;
    for (const event of item.events) {
      const [id, known] = [uuid7.next(shard.bits), events.of(event)];
      rows.push({ id, event, known, modelVersion: item.model.version });
    }
  }
  return rows;
}

function isSimple({ checks, sets, steps }: TableChanges): boolean {
  if (checks !== undefined || steps !== undefined) return false;
  return sets === undefined || sets.columns.every(({ isFlagged }) => !isFlagged);
}

/** What is bound of rows whose versions are checked. */
function checkedCells({ codec, sets, steps }: TableChanges): readonly Cell<RowChange>[] {
  const cells = (sets?.columns ?? []).flatMap((set) => updateCells(codec, set));
  const isStepped = steps !== undefined && steps.count > 1;
  return [...cells, ...(isStepped ? [cell('step', INT, steps.of)] : []), ...CHECK];
}

/** Condition: `t` is the row, and has the version that was read. */
function hasVersion({ cell }: BoundRows): string {
  return `t.id = ${cell('id')} AND t.version = ${cell('expected')}`;
}

function stepCte(index: number, step: number): string {
  return cte('u', `${index}s${step}`);
}

/** Condition that is true, and known only when that step of the updates is done. */
function isDone(index: number, step: number): string {
  return `(SELECT count(*) FROM ${stepCte(index, step)}) >= 0`;
}

/** Groups that have as many of these rows as they have checks, or none to check. */
function completeGroups(rows: string, checks: string): string {
  const others = `SELECT grp::int FROM unnest(${checks}) WITH ORDINALITY AS n(checks, grp) WHERE checks = 0`;
  if (rows === '') return others;
  return `SELECT grp FROM (${rows}) AS l GROUP BY grp HAVING count(*) = (${checks})[grp] UNION ALL ${others}`;
}

/** As `group:check`, with the numbers of checks; 0 if the check has to be repeated plan by plan. */
const LIST_OF_REFUSED = `(SELECT coalesce(string_agg(grp || ':' || number, ','), '') FROM ${REFUSED})`;
