import { arrayLiteral } from '../codec/column-codec.js';
import { FLAG, INT } from '../codec/parameter-kind.js';
import type { RowCodec } from '../codec/row-codec.js';
import { quoteIdentifier } from '../codec/sql-identifier.js';
import { tableKey } from '../codec/table-key.js';
import type { UpdateColumn, UpdateColumns } from '../codec/update-columns.js';
import type { FlushRecords } from './flush-records.js';
import { changedBy, type RowChange } from './folded-group.js';
import { foldingCondition } from './folding-rules.js';
import type { ActionRow } from './plan-write.js';
import { checkKey, refusedText, rowsText } from './row-check.js';
import { cte, type StatementBuilder } from './statement-builder.js';
import { ALL_APPLIED, StatementForm, where } from './statement-form.js';
import {
  type BoundRows,
  type Cell,
  CHECK,
  cell,
  insertText,
  modelTable,
  type NumberedRow,
} from './statement-rows.js';
import { isGuarded, type TableChanges } from './table-changes.js';

/** Answer of a flush that folds rows which may not be folded: nothing was applied. */
export const UNPROVEN = 'unproven';

/** Groups whose versions match, and those of them that no constraint refuses. */
const HELD = cte('held');
const OK = cte('ok');
const REFUSED_GROUPS = cte('refused');

/** Condition: all tables whose rows are folded may be folded. */
type Proof = () => string;

interface GroupSize {
  readonly plans: number;
  /** Of how many rows the version is checked. */
  readonly checks: number;
}

/** Groups of plans that have one statement. */
export interface MergedFlush {
  readonly namespace: string;
  /** One of each plan. */
  readonly actions: readonly ActionRow[];
  readonly groups: readonly GroupSize[];
  readonly tables: readonly TableChanges[];
  readonly records: FlushRecords;
  readonly skipLocked: boolean;
}

/** Rows of which each cell is one parameter for all. */
interface BoundArrays extends BoundRows {
  readonly array: (name: string) => string;
}

/**
 * The form for any number of groups, each all-or-nothing by itself. Groups and plans are numbered from 1; without
 * folding they are the same. In order of dependence:
 *
 * 1. `m*`: rows to update; `l*`: rows whose version is checked and matches, locked in id order; `ok`: groups whose
 * every
 *    check holds. Everything below is written for these groups alone.
 *    Where constraints are evaluated, these groups are `held`; `n*` are the rows to insert, `r*` all rows as they will
 *    be, `refused` the groups that a constraint refuses, and `ok` is what remains.
 * 2. `act`, `u*`, `i*`, `ev`, `k`, `sc`, `j`, `x`: the rows of the actions, updates, inserts, records. The row of an
 *    action that was fenced is a unique violation, and so is a key that is taken: the writer splits the statement until
 *    the guilty plan stands alone.
 *
 * `(x IN (SELECT ...)) = true` keeps the planner on a hashed subplan, and `MATERIALIZED` keeps locking before writing.
 */
export class MergedForm extends StatementForm {
  readonly #flush: MergedFlush;
  /** Some group may be left out because of a row. */
  readonly #isGuarded: boolean;
  readonly #namespace: number;
  readonly #actions: BoundArrays;
  /** The group of each plan. Undefined: plans have the numbers of their groups. */
  readonly #groups: number | undefined;
  /** The rows to insert into each table whose constraints are evaluated. */
  readonly #checkedAdds = new Map<number, BoundRows>();

  constructor(builder: StatementBuilder, flush: MergedFlush) {
    super(builder, flush.actions);
    const { namespace, tables, actions, groups } = flush;
    this.#flush = flush;
    this.#isGuarded = tables.some(isGuarded);
    this.#namespace = builder.bind(namespace);
    this.#actions = this.bind(
      'r',
      this.actionTable.cells,
      actions.map((row, index) => ({ number: index + 1, row })),
    );
    const isFolded = this.#isGuarded && actions.length > groups.length;
    this.#groups = isFolded ? this.#bindNumbers(groups.flatMap(groupOfPlans)) : undefined;
    builder.dependOn(`merged${this.#isGuarded ? 'g' : ''}${isFolded ? 'f' : ''}`);
  }

  write(): void {
    const { tables, records } = this.#flush;
    const mayRefuse = tables.some(({ checks }) => checks !== undefined);
    const proof = this.#prove();
    if (this.#isGuarded) this.#check({ proof, mayRefuse });
    if (mayRefuse) this.#refuse();
    this.builder.with('act', () => {
      return `${cte('act')} AS (${insertText(this.actionTable, this.#actions)}${where(this.isApplied('r'))})`;
    });
    tables.forEach((table, index) => {
      if (table.sets !== undefined) this.#update(table, table.sets, index);
      if (table.adds.length > 0) this.#add(table, index);
    });
    this.writeRecords(records);
    this.builder.query(() => {
      const applied = this.#isGuarded ? LIST_OF_OK : `'${ALL_APPLIED}'`;
      const refused = mayRefuse ? `, ${REFUSED} AS refused` : '';
      if (proof === undefined) return `SELECT ${applied} AS applied${refused}`;
      return `SELECT CASE WHEN ${proof()} THEN ${applied} ELSE '${UNPROVEN}' END AS applied${refused}`;
    });
  }

  #prove(): Proof | undefined {
    const proofs = this.#flush.tables.flatMap(({ codec: { model }, shape }) => {
      if (shape === undefined) return [];
      this.builder.dependOn(`proof${tableKey(model)}`);
      return [{ model, shape: this.builder.bind(shape) }];
    });
    if (proofs.length === 0) return undefined;
    return () => proofs.map(({ model, shape }) => foldingCondition(model, `$${shape}::bigint`)).join(' AND ');
  }

  /** Groups with as many locked rows as they have checks; groups without checks always stand. */
  #check({ proof, mayRefuse }: { readonly proof: Proof | undefined; readonly mayRefuse: boolean }): void {
    const { tables, groups } = this.#flush;
    const hasOneCheck = groups.every(({ checks }) => checks === 1);
    const checks = hasOneCheck ? undefined : this.#bindNumbers(groups.map((group) => group.checks));
    const locked = tables.flatMap((table, index) => (this.#lock(table, index) ? [index] : []));
    this.builder.with(hasOneCheck ? 'ok1' : 'ok', () => {
      const rows = locked.map((index) => `SELECT grp FROM ${cte('l', index)}`).join(' UNION ALL ');
      const held = checks === undefined ? rows : completeGroups(rows, `$${checks}::int[]`);
      const proven = proof === undefined ? held : `SELECT grp FROM (${held}) AS g WHERE ${proof()}`;
      return `${mayRefuse ? HELD : OK} AS MATERIALIZED (${proven})`;
    });
  }

  /** Locks the rows of a table whose versions are checked. False if there are none. */
  #lock(table: TableChanges, index: number): boolean {
    const {
      codec: { model },
      expects,
      sets,
    } = table;
    const sources: (() => string)[] = [];
    if (sets !== undefined) {
      this.#bindUpdates(table, sets, index);
      sources.push(() => `SELECT nr, id, expected FROM ${cte('m', index)}`);
    }
    if (expects.length > 0) {
      const rows = this.bind('x', CHECK, expects);
      sources.push(() => `SELECT nr, id, expected${rows.from()}`);
    }
    if (sources.length === 0) return false;
    const lock = `FOR NO KEY UPDATE OF t${this.#flush.skipLocked ? ' SKIP LOCKED' : ''}`;
    this.builder.with(`l${index}${tableKey(model)}${expects.length > 0 ? 'x' : ''}${lock.length}`, () => {
      const checks = sources.map((source) => source()).join(' UNION ALL ');
      return (
        `${cte('l', index)} AS MATERIALIZED (SELECT g.nr AS grp FROM (${checks}) AS g ` +
        `JOIN ${quoteIdentifier(model.table)} AS t ON t.id = g.id WHERE t.version = g.expected ORDER BY t.id ${lock})`
      );
    });
    return true;
  }

  #bindUpdates(
    { codec, updates, steps }: TableChanges,
    { key, columns }: UpdateColumns,
    index: number,
  ): void {
    const isStepped = steps !== undefined && steps.count > 1;
    const cells = columns.flatMap((column) => updateCells(codec, column));
    if (isStepped) cells.push(cell('step', INT, steps.of));
    const rows = this.bind('m', [...cells, ...CHECK], updates);
    this.builder.with(`m${index}${key}${isStepped ? 'h' : ''}`, () => {
      return `${cte('m', index)} AS MATERIALIZED (SELECT *${rows.from()})`;
    });
  }

  /** One statement for each step, or for all rows. */
  #update({ codec: { model }, steps }: TableChanges, { columns }: UpdateColumns, index: number): void {
    const text = (): string => {
      const assignments = columns.map(({ column, position, isFlagged }) => {
        const name = quoteIdentifier(column.descriptor.column);
        const value = `m.c${position}`;
        return `${name} = ${isFlagged ? `CASE WHEN m.f${position} THEN ${value} ELSE t.${name} END` : value}`;
      });
      return (
        `UPDATE ${quoteIdentifier(model.table)} AS t SET ${assignments.join(', ')} ` +
        `FROM ${cte('m', index)} AS m WHERE t.id = m.id AND t.version = m.expected AND ${isInGroup('m.nr', OK)}`
      );
    };
    if (steps === undefined) this.builder.with('u', () => `${cte('u', index)} AS (${text()})`);
    for (let step = 0; step < (steps?.count ?? 0); step += 1) {
      this.builder.with('us', () => {
        const own = steps?.count === 1 ? '' : ` AND m.step = ${step}`;
        const after = step === 0 ? '' : ` AND ${isDone(index, step - 1)}`;
        return `${stepCte(index, step)} AS (${text()}${own}${after} RETURNING 1)`;
      });
    }
  }

  #add({ codec, adds, steps }: TableChanges, index: number): void {
    const table = modelTable(codec);
    const rows = this.#checkedAdds.get(index) ?? this.bind('n', table.cells, adds);
    this.builder.with(`i${index}${tableKey(codec.model)}${steps === undefined ? '' : 'h'}`, () => {
      const applied = this.#isGuarded ? isInGroup('n.nr', OK) : undefined;
      const done = steps === undefined ? undefined : isDone(index, steps.count - 1);
      return `${cte('i', index)} AS (${insertText(table, rows)}${where(applied, done)})`;
    });
  }

  /** Evaluates constraints for the rows of groups that are held; what remains of these groups is `ok`. */
  #refuse(): void {
    const refused: (() => string)[] = [];
    this.#flush.tables.forEach((table, index) => {
      const { codec, adds, checks } = table;
      const [first] = checks ?? [];
      if (checks === undefined || first === undefined) return;
      if (adds.length > 0) {
        const rows = this.bind('n', modelTable(codec).cells, adds);
        this.#checkedAdds.set(index, { ...rows, from: () => ` FROM ${cte('n', index)} AS n` });
        this.builder.with(`n${index}${tableKey(codec.model)}`, () => {
          return `${cte('n', index)} AS MATERIALIZED (SELECT *${rows.from()} WHERE ${isInGroup('n.nr', HELD)})`;
        });
      }
      this.builder.with(`r${index}`, () => {
        return `${cte('r', index)} AS MATERIALIZED (${rowsText(table, index, first.check.types)})`;
      });
      for (const stated of checks) {
        const oid = `$${this.builder.bind(stated.check.oid)}::oid`;
        const version = `$${this.builder.bind(stated.check.version)}::xid`;
        this.builder.dependOn(checkKey(stated));
        refused.push(() => refusedText({ stated, table, index, oid, version }));
      }
    });
    this.builder.with('refused', () => {
      return `${REFUSED_GROUPS} AS MATERIALIZED (${refused.map((text) => text()).join(' UNION ALL ')})`;
    });
    this.builder.with('ok', () => {
      return `${OK} AS MATERIALIZED (SELECT grp FROM ${HELD} WHERE (grp IN (SELECT grp FROM ${REFUSED_GROUPS})) IS NOT TRUE)`;
    });
  }

  protected bind<R>(alias: string, cells: readonly Cell<R>[], rows: readonly NumberedRow<R>[]): BoundArrays {
    const numbers = this.#bindNumbers(rows.map(({ number }) => number));
    for (const { many } of cells) this.builder.bind(many(rows));
    const array = (index: number): string => `$${numbers + 1 + index}::${cells[index]?.manyType}`;
    return {
      array: (name) => array(cells.findIndex((each) => each.name === name)),
      cell: (name) => `${alias}.${name}`,
      action: (column) =>
        column === 'namespace'
          ? `$${this.#namespace}::text`
          : `(${this.#actions.array(column)})[${alias}.nr]`,
      from: () => {
        const isArray = ({ expand }: Cell<R>): boolean => expand === undefined;
        const arrays = cells.flatMap((each, index) => (isArray(each) ? [array(index)] : []));
        const others = cells.flatMap(({ expand }, index) => (expand ? [`${expand}(${array(index)})`] : []));
        const names = [...cells.filter(isArray), ...cells.filter((each) => !isArray(each))].map(
          ({ name }) => name,
        );
        const unnested = `unnest(${[`$${numbers}::int[]`, ...arrays].join(', ')})`;
        const source = others.length === 0 ? unnested : `ROWS FROM (${[unnested, ...others].join(', ')})`;
        return ` FROM ${source} AS ${alias}(${['nr', ...names].join(', ')})`;
      },
    };
  }

  #bindNumbers(numbers: readonly number[]): number {
    return this.builder.bind(arrayLiteral(numbers.map(String)));
  }

  protected isApplied(alias: string): string | undefined {
    if (!this.#isGuarded) return undefined;
    const plan = `${alias}.nr`;
    return isInGroup(this.#groups === undefined ? plan : `($${this.#groups}::int[])[${plan}]`, OK);
  }
}

function groupOfPlans({ plans }: GroupSize, index: number): readonly number[] {
  return new Array<number>(plans).fill(index + 1);
}

/** What an update sets of one column, with a flag if not every row sets it. */
function updateCells(codec: RowCodec, { column, position, isFlagged }: UpdateColumn): Cell<RowChange>[] {
  const value = modelTable(codec).cells[position];
  if (value === undefined) return [];
  if (!isFlagged) return [value];
  const isSet = (change: RowChange): boolean => changedBy(change).positions.includes(position);
  const many: Cell<RowChange>['many'] = (rows) =>
    codec.sparseArray(
      column,
      rows.map(({ row }) => row.model),
      rows.map(({ row }) => isSet(row)),
    );
  return [{ ...value, many }, cell(`f${position}`, FLAG, isSet)];
}

/** Condition: the group is among these. */
function isInGroup(group: string, groups: string): string {
  return `(${group} IN (SELECT grp FROM ${groups})) = true`;
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

/** Numbers of groups from 1, separated by commas. */
const LIST_OF_OK = `(SELECT coalesce(string_agg(grp::text, ','), '') FROM ${OK})`;

/** As `group:check`, with the numbers of checks; 0 if the check has to be repeated plan by plan. */
const REFUSED = `(SELECT coalesce(string_agg(grp || ':' || number, ','), '') FROM ${REFUSED_GROUPS})`;
