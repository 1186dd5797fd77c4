import { memoize } from '../../collections/memoize.js';
import { revisionOf } from '../../domain/entity.js';
import type { ArrayValue } from '../codec/column-codec.js';
import { BIGINT, FLAG, OPTIONAL_XID, type ParameterKind, UUID } from '../codec/parameter-kind.js';
import type { RowCodec } from '../codec/row-codec.js';
import { quoteIdentifier } from '../codec/sql-identifier.js';
import type { UpdateColumn, UpdateColumns } from '../codec/update-columns.js';
import { changedBy, type RowChange } from './folded-group.js';

/** A row for a statement, with the number of the plan or of the group that it belongs to, from 1. */
export interface NumberedRow<R> {
  readonly number: number;
  readonly row: R;
}

/**
 * One named value of each row: for a single row the parameter `$4::numeric`, for many one array for all of them,
 * `$4::numeric[]`.
 */
export interface Cell<R> extends Omit<ParameterKind<R>, 'many'> {
  readonly name: string;
  readonly many: (rows: readonly R[]) => ArrayValue;
}

export function cell<R, V>(name: string, kind: ParameterKind<V>, of: (row: R) => V): Cell<R> {
  return { ...kind, name, one: (row) => kind.one(of(row)), many: (rows) => kind.many(rows, of) };
}

/** What the check of a version needs, and of the revision of a row that was not read. */
export const CHECK: readonly Cell<RowChange>[] = [
  cell('id', UUID, ({ model }) => model.id.getValue()),
  cell('expected', BIGINT, ({ expectedVersion }) => expectedVersion),
  cell('revision', OPTIONAL_XID, ({ guess }) => guess && revisionOf(guess)),
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

/** A table into which a statement inserts. */
export interface InsertedTable<R> {
  /** Identifies it among all tables of the process. */
  readonly id: number;
  readonly name: string;
  /** The values of a row that are sent. */
  readonly cells: readonly Cell<R>[];
  readonly columns: readonly InsertedColumn<R>[];
}

export interface InsertedColumn<R> {
  readonly name: string;
  /** The value of a row that is sent. Absent: the value follows from others. */
  readonly cell?: Cell<R>;
  /** @param plans the actions of the plans to which the rows belong */
  readonly sql: (rows: BoundRows, plans: BoundRows) => string;
}

let lastId = 0;

export function insertedTable<R>(name: string, columns: readonly InsertedColumn<R>[]): InsertedTable<R> {
  lastId += 1;
  return { id: lastId, name, columns, cells: columns.flatMap(({ cell }) => cell ?? []) };
}

/** An `INSERT` without conditions. */
export function insertText<R>(
  { name, columns }: InsertedTable<R>,
  rows: BoundRows,
  plans: BoundRows,
): string {
  const names = columns.map((column) => column.name).join(', ');
  return `INSERT INTO ${name} (${names}) SELECT ${columns.map(({ sql }) => sql(rows, plans)).join(', ')}${rows.from}`;
}

/** The table of a model. Cells have the positions of the columns as names, because columns may have any. */
export const modelTable: (codec: RowCodec) => InsertedTable<RowChange> = memoize((codec) => {
  const columns = codec.columns.map(({ descriptor, parameter }, position): InsertedColumn<RowChange> => {
    const value = cell(`c${position}`, parameter, modelOf);
    return { name: quoteIdentifier(descriptor.column), cell: value, sql: (rows) => rows.cell(value.name) };
  });
  return insertedTable(quoteIdentifier(codec.model.table), columns);
});

/** The cells of updates of these columns: values, flags of columns that not every row sets, and what is checked. */
export const updateCells: (sets: UpdateColumns) => readonly Cell<RowChange>[] = memoize(({ columns }) => {
  const cells = columns.flatMap(({ column: { parameter }, position, isFlagged }) => {
    if (!isFlagged) return [cell(`c${position}`, parameter, modelOf)];
    const isSet = (change: RowChange): boolean => changedBy(change).positions.includes(position);
    const value = cell(`c${position}`, parameter, (change: RowChange) =>
      isSet(change) ? change.model : undefined,
    );
    return [value, cell(`f${position}`, FLAG, isSet)];
  });
  return [...cells, ...CHECK];
});

function modelOf({ model }: RowChange): RowChange['model'] {
  return model;
}

/** The value that a column of `t` has after an update. @param cell of the update */
export function updatedValue(set: UpdateColumn, cell: BoundRows['cell']): string {
  const value = cell(`c${set.position}`);
  if (!set.isFlagged) return value;
  const before = `t.${quoteIdentifier(set.column.descriptor.column)}`;
  return `CASE WHEN ${cell(`f${set.position}`)} THEN ${value} ELSE ${before} END`;
}
