import type { ArrayValue } from '../codec/column-codec.js';
import { BIGINT, FLAG, type ParameterKind, UUID } from '../codec/parameter-kind.js';
import type { RowCodec } from '../codec/row-codec.js';
import { arrayType, parameterType, quoteIdentifier } from '../codec/sql-identifier.js';
import type { UpdateColumn } from '../codec/update-columns.js';
import { changedBy, type RowChange } from './folded-group.js';

/** A row for a statement, with the number of the plan or of the group that it belongs to, from 1. */
export interface NumberedRow<R> {
  readonly number: number;
  readonly row: R;
}

/** What rows bring under one name: a parameter each, or one array for all. */
export interface Cell<R> extends Omit<ParameterKind<R>, 'many'> {
  readonly name: string;
  readonly many: (rows: readonly R[]) => ArrayValue;
}

export function cell<R, V>(name: string, kind: ParameterKind<V>, of: (row: R) => V): Cell<R> {
  return { ...kind, name, one: (row) => kind.one(of(row)), many: (rows) => kind.many(rows, of) };
}

/** What the check of a version needs. */
export const CHECK: readonly Cell<RowChange>[] = [
  cell('id', UUID, ({ model }) => model.id.getValue()),
  cell('expected', BIGINT, ({ expectedVersion }) => expectedVersion),
];

/** Rows as SQL refers to them. */
export interface BoundRows {
  /** Number of the row at hand. */
  readonly number: string;
  /** A cell of the row at hand. */
  readonly cell: (name: string) => string;
  /** A cell of the row that has this number. */
  readonly cellOf: (number: string, name: string) => string;
  /** `FROM`, with a space in front. Empty for a single row, whose cells are parameters. */
  readonly from: string;
}

/** What rows of different tables repeat. */
export interface PlanFacts {
  readonly namespace: string;
  readonly plans: BoundRows;
}

/** A table into which a statement inserts. */
export interface InsertedTable<R> {
  readonly name: string;
  /** What each row brings. */
  readonly cells: readonly Cell<R>[];
  readonly columns: readonly InsertedColumn[];
}

export interface InsertedColumn {
  readonly name: string;
  readonly sql: (rows: BoundRows, facts: PlanFacts) => string;
}

const intoTexts = new WeakMap<object, string>();

/** An `INSERT` without conditions. */
export function insertText<R>(table: InsertedTable<R>, rows: BoundRows, facts: PlanFacts): string {
  let into = intoTexts.get(table);
  if (into === undefined) {
    into = `INSERT INTO ${table.name} (${table.columns.map(({ name }) => name).join(', ')})`;
    intoTexts.set(table, into);
  }
  return `${into} SELECT ${table.columns.map(({ sql }) => sql(rows, facts)).join(', ')}${rows.from}`;
}

const known = new WeakMap<RowCodec, InsertedTable<RowChange>>();

/** The table of a model. Cells have the positions of the columns as names, because columns may have any. */
export function modelTable(codec: RowCodec): InsertedTable<RowChange> {
  let table = known.get(codec);
  if (table === undefined) {
    table = {
      name: quoteIdentifier(codec.model.table),
      cells: codec.columns.map((column, position) => ({
        name: `c${position}`,
        type: parameterType(column.descriptor.sqlType),
        one: ({ model }) => codec.text(column, model),
        manyType: arrayType(column.descriptor.sqlType),
        many: (rows) => codec.array(column, rows.map(modelOf)),
      })),
      columns: codec.columns.map(({ descriptor }, position) => ({
        name: quoteIdentifier(descriptor.column),
        sql: ({ cell }) => cell(`c${position}`),
      })),
    };
    known.set(codec, table);
  }
  return table;
}

function modelOf({ model }: RowChange): RowChange['model'] {
  return model;
}

/** What updates set of one column, with a flag if not every row sets it. */
export function updateCells(codec: RowCodec, set: UpdateColumn): readonly Cell<RowChange>[] {
  const { column, position, isFlagged } = set;
  const value = modelTable(codec).cells[position];
  if (value === undefined) return [];
  if (!isFlagged) return [value];
  const isSet = (change: RowChange): boolean => changedBy(change).positions.includes(position);
  const many: Cell<RowChange>['many'] = (rows) =>
    codec.sparseArray(column, rows.map(modelOf), rows.map(isSet));
  return [{ ...value, many }, cell(`f${position}`, FLAG, isSet)];
}

/** The value that a column of `t` has after an update. @param cell of the update */
export function updatedValue(set: UpdateColumn, cell: BoundRows['cell']): string {
  const value = cell(`c${set.position}`);
  if (!set.isFlagged) return value;
  const before = `t.${quoteIdentifier(set.column.descriptor.column)}`;
  return `CASE WHEN ${cell(`f${set.position}`)} THEN ${value} ELSE ${before} END`;
}
