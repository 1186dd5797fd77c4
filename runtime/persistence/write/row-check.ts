import type { DriverFailure } from '../../sharding/driver-failure.js';
import type { RowCodec } from '../codec/row-codec.js';
import { quoteIdentifier } from '../codec/sql-identifier.js';
import type { UpdateColumns } from '../codec/update-columns.js';
import { cte } from './statement-builder.js';
import { updatedValue } from './statement-rows.js';

/** A condition on the rows of a table, as SQL over their columns. */
export type RowCondition =
  | { readonly kind: 'check'; readonly expression: string }
  | {
      readonly kind: 'unique';
      /** Columns or expressions of the index. */
      readonly keys: readonly string[];
      /** Predicate of a partial index; undefined for an index over all rows. */
      readonly predicate: string | undefined;
    }
  | {
      readonly kind: 'reference';
      readonly columns: readonly string[];
      /** SQL name of the referenced table. */
      readonly to: string;
      readonly toColumns: readonly string[];
    };

/** A constraint, as the catalog describes it, that a statement evaluates for the rows that it will write. */
export interface RowCheck {
  readonly constraint: string;
  readonly condition: RowCondition;
  /** Columns on which the outcome depends. */
  readonly columns: readonly string[];
  /**
   * Whether the server may decide differently, for example by another collation. A plan that fails the check is then
   * sent alone.
   */
  readonly isApproximate: boolean;
  /** Its row in `pg_constraint`, or in `pg_index`, and the `xmin` of that row. */
  readonly oid: string;
  readonly version: string;
  /** Types of the columns of the table. A value is checked in the form in which the table would store it. */
  readonly types: ReadonlyMap<string, string>;
  /** Error of a plan that it refuses. */
  readonly refusal: DriverFailure;
}

/** By table, in the order in which the server evaluates them. */
export type RowChecks = ReadonlyMap<string, readonly RowCheck[]>;

/** A constraint among those that a statement evaluates. */
export interface StatedCheck {
  readonly check: RowCheck;
  /** Its number in the statement's result, from 1: its position among all checks. */
  readonly number: number;
  /** True: a row that fails is refused. False: its plan is left out and sent alone. */
  readonly isFinal: boolean;
}

/** The part of a statement's writes to one table that checks need. */
export interface CheckedTable {
  readonly codec: RowCodec;
  /** Index of the table in the names of common table expressions. */
  readonly index: number;
  readonly sets?: UpdateColumns | undefined;
  readonly adds: readonly unknown[];
}

/** The checks that each of these tables needs: constraints on columns that the statement sets. */
export function statedChecks<T extends CheckedTable>(
  tables: readonly T[],
  checks: RowChecks,
): readonly (T & { readonly checks?: readonly StatedCheck[] })[] {
  const all = [...checks.values()].flat();
  const added = tables.flatMap(({ adds, codec }) => (adds.length > 0 ? [codec.model.table] : []));
  return tables.map((table) => {
    const needed = (checks.get(table.codec.model.table) ?? []).filter((check) => isAffected(table, check));
    if (needed.length === 0) return table;
    const stated = needed.map((check) => {
      return { check, number: all.indexOf(check) + 1, isFinal: isFinal(check, added) };
    });
    return { ...table, checks: stated };
  });
}

function isAffected({ adds, sets }: CheckedTable, { columns }: RowCheck): boolean {
  return (
    adds.length > 0 || sets?.columns.some(({ column }) => columns.includes(column.descriptor.column)) === true
  );
}

/** The row to which a row refers may be added by the same plan. */
function isFinal({ condition, isApproximate }: RowCheck, added: readonly string[]): boolean {
  if (isApproximate) return false;
  if (condition.kind !== 'reference') return true;
  return !added.some((table) => condition.to.includes(table.slice(table.lastIndexOf('.') + 1)));
}

/** The rows of a table after the statement, by column name: those of `m` and `n`. */
export function rowsText(
  { codec, index, sets, adds }: CheckedTable,
  types: ReadonlyMap<string, string>,
): string {
  const table = quoteIdentifier(codec.model.table);
  const select = (valueIn: (column: string, position: number) => string): string =>
    codec.columns
      .map(({ descriptor: { column } }, position) => {
        const name = quoteIdentifier(column);
        return `(${valueIn(name, position)})::${types.get(column) ?? 'text'} AS ${name}`;
      })
      .join(', ');
  const sources: string[] = [];
  if (sets !== undefined) {
    // Only the version and the set columns of a row are known.
    const columns = new Map(sets.columns.map((column) => [column.position, column]));
    const values = select((name, position) => {
      const column = columns.get(position);
      return column === undefined ? `t.${name}` : updatedValue(column, (cell) => `m.${cell}`);
    });
    sources.push(
      `SELECT m.nr AS "fw.grp", false AS "fw.new", ${values} FROM ${cte('m', index)} AS m JOIN ${table} AS t ` +
        `ON t.id = m.id AND t.version = m.expected WHERE (m.nr IN (SELECT grp FROM ${cte('held')})) = true`,
    );
  }
  if (adds.length > 0) {
    const values = select((_, position) => `n.c${position}`);
    sources.push(`SELECT n.nr AS "fw.grp", true AS "fw.new", ${values} FROM ${cte('n', index)} AS n`);
  }
  return sources.join(' UNION ALL ');
}

export interface RefusedGroups {
  readonly stated: StatedCheck;
  readonly table: CheckedTable;
  /** Parameters. */
  readonly oid: string;
  readonly version: string;
}

/**
 * Groups with a row in `r` that the check refuses, with the number of the check; 0 if the plans must be sent one by
 * one.
 */
export function refusedText(refused: RefusedGroups): string {
  const { stated, table, oid, version } = refused;
  const { condition } = stated.check;
  const catalog = condition.kind === 'unique' ? 'pg_index WHERE indexrelid' : 'pg_constraint WHERE oid';
  // A constraint that was dropped or replaced refuses nothing.
  const isThere = `EXISTS (SELECT FROM pg_catalog.${catalog} = ${oid} AND xmin = ${version})`;
  const number = numberText(refused);
  switch (condition.kind) {
    case 'check':
      return `SELECT "fw.grp" AS grp, ${number} AS number FROM ${cte('r', table.index)} WHERE (${condition.expression}) IS FALSE AND ${isThere}`;
    case 'reference': {
      const columns = condition.columns.map((column) => `r.${quoteIdentifier(column)}`);
      const isSame = columns.map((column, at) => {
        return `e.${quoteIdentifier(condition.toColumns[at] ?? '')} = ${column}`;
      });
      const isSet = columns.map((column) => `${column} IS NOT NULL`).join(' AND ');
      return (
        `SELECT r."fw.grp" AS grp, ${number} AS number FROM ${cte('r', table.index)} AS r WHERE ${isSet} AND ${isThere} ` +
        `AND NOT EXISTS (SELECT FROM ${condition.to} AS e WHERE ${isSame.join(' AND ')})`
      );
    }
    case 'unique':
      return (
        `SELECT q."fw.grp" AS grp, CASE WHEN x.taken THEN ${number} ELSE 0 END AS number ` +
        `FROM (${keyedRows(condition, table)}) AS q CROSS JOIN LATERAL ` +
        `(SELECT EXISTS (${holderText(condition, table)}) AS taken OFFSET 0) AS x ` +
        `WHERE (x.taken OR q."fw.nr" > 1) AND ${isThere}`
      );
  }
}

/** A trigger may change a row that would be refused. */
function numberText({ stated: { number, isFinal }, table }: RefusedGroups): string {
  if (!isFinal) return '0';
  const name = quoteIdentifier(table.codec.model.table).replaceAll("'", "''");
  return (
    `CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = '${name}'::regclass ` +
    `AND NOT tgisinternal) THEN 0 ELSE ${number} END`
  );
}

type Unique = Extract<RowCondition, { readonly kind: 'unique' }>;

/** Rows with their keys. Of the rows with the same key, the first has number 1. */
function keyedRows({ keys, predicate }: Unique, { codec, index }: CheckedTable): string {
  const id = quoteIdentifier(codec.columns[codec.idIndex]?.descriptor.column ?? 'id');
  const named = keys.map((key, at) => `${key} AS "fw.k${at}"`).join(', ');
  const conditions = keys.map((key) => `${key} IS NOT NULL`);
  if (predicate !== undefined) conditions.push(`(${predicate})`);
  return (
    `SELECT "fw.grp", "fw.new", ${id} AS "fw.id", ${named}, row_number() OVER (PARTITION BY ${keys.join(', ')} ` +
    `ORDER BY "fw.grp") AS "fw.nr" FROM ${cte('r', index)} WHERE ${conditions.join(' AND ')}`
  );
}

/** Another row with the key that no plan of the same group changes. */
function holderText({ keys, predicate }: Unique, { codec, index, sets }: CheckedTable): string {
  const conditions = keys.map((key, at) => `${key} = q."fw.k${at}"`);
  if (predicate !== undefined) conditions.push(`(${predicate})`);
  conditions.push('(q."fw.new" OR e.id <> q."fw.id")');
  if (sets !== undefined) {
    conditions.push(`((q."fw.grp", e.id) IN (SELECT m.nr, m.id FROM ${cte('m', index)} AS m)) IS NOT TRUE`);
  }
  return `SELECT FROM ${quoteIdentifier(codec.model.table)} AS e WHERE ${conditions.join(' AND ')}`;
}
