import { INT } from '../codec/parameter-kind.js';
import type { LockedRows } from '../shard-store.js';
import type { RowChange } from './folded-group.js';
import { cte, type StatementBuilder } from './statement-builder.js';
import { SINGLE, type StatementForm } from './statement-form.js';
import { type BoundRows, CHECK, cell, updateCells } from './statement-rows.js';
import { isGuarded, type TableChanges } from './table-changes.js';

/** Name of the expression with the groups whose versions match. */
export const OK = 'ok';

/** What follows the locking clause. */
const AT_LOCKED_ROWS: Readonly<Record<LockedRows, string>> = {
  wait: '',
  skip: ' SKIP LOCKED',
  refuse: ' NOWAIT',
};

/** The rows whose versions a statement checks. */
interface CheckedRows {
  /** Of each group. */
  readonly changes: readonly (readonly RowChange[])[];
  readonly tables: readonly TableChanges[];
  readonly locked: LockedRows;
}

/** What the rest of a statement needs of its checks. */
export interface VersionChecks {
  /** The rows of updates, by index of the table. */
  readonly updates: readonly (BoundRows | undefined)[];
  /** What the text of the checks depends on. */
  readonly key: string;
}

/** Determines the groups whose versions match: those with as many locked rows as they have checks. */
export function checkVersions(
  builder: StatementBuilder,
  form: StatementForm,
  { changes, tables, locked }: CheckedRows,
): VersionChecks {
  const counts = form === SINGLE ? [] : changes.map((rows) => rows.filter(isChecked).length);
  const hasOneCheckEach = counts.every((count) => count === 1);
  const checks = hasOneCheckEach ? '' : bindNumbers(builder, counts);
  const lock = `FOR NO KEY UPDATE OF t${AT_LOCKED_ROWS[locked]}`;
  const updates: (BoundRows | undefined)[] = [];
  const locks: (() => string)[] = [];
  for (const table of tables.filter(isGuarded)) {
    const { updated, sql } = lockRows(builder, form, table, lock);
    updates[table.index] = updated;
    locks.push(sql);
  }
  builder.select(OK, () => {
    const rows = locks.map((sql) => `SELECT grp FROM (${sql()}) AS l`).join(' UNION ALL ');
    return hasOneCheckEach ? rows : completeGroups(rows, checks);
  });
  return { updates, key: `${lock} ${hasOneCheckEach}` };
}

/** Locks the rows of a table whose versions are checked, if they match. */
function lockRows(
  builder: StatementBuilder,
  form: StatementForm,
  { table, index, sets, updates, expects, steps }: TableChanges,
  lock: string,
): { readonly updated: BoundRows | undefined; readonly sql: () => string } {
  const sources: BoundRows[] = [];
  let updated: BoundRows | undefined;
  if (sets !== undefined) {
    const step = steps && steps.count > 1 ? [cell('step', INT, steps.of)] : [];
    updated = share(builder, 'm', index, form.bind(builder, 'm', [...updateCells(sets), ...step], updates));
    sources.push(updated);
  }
  if (expects.length > 0) sources.push(form.bind(builder, 'x', CHECK, expects));
  const sql = (): string => {
    const checks = sources.map(({ number, cell, from }) => {
      const [id, expected, revision] = CHECK.map(({ name }) => `${cell(name)} AS ${name}`);
      return `SELECT ${number} AS nr, ${id}, ${expected}, ${revision}${from}`;
    });
    return (
      `SELECT g.nr AS grp FROM (${checks.join(' UNION ALL ')}) AS g JOIN ${table.name} AS t ON t.id = g.id ` +
      `WHERE t.version = g.expected AND (g.revision IS NULL OR t.xmin = g.revision) ORDER BY t.id ${lock}`
    );
  };
  return { updated, sql };
}

/** Rows to which several expressions refer, unless they are parameters. */
function share(builder: StatementBuilder, alias: string, index: number, rows: BoundRows): BoundRows {
  if (rows.from === '') return rows;
  const name = alias + index;
  builder.select(name, () => `SELECT *${rows.from}`);
  return { ...rows, from: ` FROM ${cte(name)} AS ${alias}` };
}

/** @returns SQL: an array of these numbers */
export function bindNumbers(builder: StatementBuilder, numbers: readonly number[]): string {
  return builder.bind(INT.many(numbers, Number), INT.manyType);
}

export function isChecked({ kind }: Pick<RowChange, 'kind'>): boolean {
  return kind !== 'add';
}

/** Groups that have as many of these rows as they have checks, or none to check. */
function completeGroups(rows: string, checks: string): string {
  const others = `SELECT grp::int FROM unnest(${checks}) WITH ORDINALITY AS n(checks, grp) WHERE checks = 0`;
  if (rows === '') return others;
  return `SELECT grp FROM (${rows}) AS l GROUP BY grp HAVING count(*) = (${checks})[grp] UNION ALL ${others}`;
}
