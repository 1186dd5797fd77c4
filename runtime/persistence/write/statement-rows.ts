import type { ArrayValue } from '../codec/column-codec.js';
import { BIGINT, type ParameterKind, UUID } from '../codec/parameter-kind.js';
import type { CodedColumn, RowCodec } from '../codec/row-codec.js';
import { arrayType, parameterType, quoteIdentifier } from '../codec/sql-identifier.js';
import type { RowChange } from './folded-group.js';

/** A row for a statement, with the number of the plan or of the group that it belongs to, from 1. */
export interface NumberedRow<R> {
  readonly number: number;
  readonly row: R;
}

/** What rows bring under one name: a parameter each, or one array for all. */
export interface Cell<R> extends Pick<ParameterKind<R>, 'type' | 'one' | 'manyType' | 'expand'> {
  readonly name: string;
  readonly many: (rows: readonly NumberedRow<R>[]) => ArrayValue;
}

export function cell<R, V>(name: string, kind: ParameterKind<V>, of: (row: R) => V): Cell<R> {
  const ofRow = ({ row }: NumberedRow<R>): V => of(row);
  return { ...kind, name, one: (row) => kind.one(of(row)), many: (rows) => kind.many(rows, ofRow) };
}

/** What the check of a version needs. */
export const CHECK: readonly Cell<RowChange>[] = [
  cell('id', UUID, ({ model }) => model.id.getValue()),
  cell('expected', BIGINT, ({ expectedVersion }) => expectedVersion),
];

/** Columns of an action's row that rows of other tables repeat. */
export type ActionColumn =
  | 'id'
  | 'namespace'
  | 'name'
  | 'principal'
  | 'started_date'
  | 'completed_date'
  | 'claims';

/** Rows as SQL refers to them. */
export interface BoundRows {
  readonly cell: (name: string) => string;
  /** A column of the action of the row's plan. */
  readonly action: (column: ActionColumn) => string;
  /** `FROM`, with what is in front of it. Empty for a single row, whose cells are parameters. */
  readonly from: () => string;
}

/** A table into which a statement inserts. */
export interface InsertedTable<R> {
  readonly name: string;
  /** What each row brings. */
  readonly cells: readonly Cell<R>[];
  readonly columns: readonly { readonly name: string; readonly sql: (rows: BoundRows) => string }[];
}

/** An `INSERT` without conditions. */
export function insertText<R>({ name, columns }: InsertedTable<R>, rows: BoundRows): string {
  const names = columns.map((column) => column.name).join(', ');
  return `INSERT INTO ${name} (${names}) SELECT ${columns.map(({ sql }) => sql(rows)).join(', ')}${rows.from()}`;
}

const known = new WeakMap<RowCodec, InsertedTable<RowChange>>();

/** The table of a model. Cells have the positions of the columns as names, because columns may have any. */
export function modelTable(codec: RowCodec): InsertedTable<RowChange> {
  let table = known.get(codec);
  if (table === undefined) {
    table = {
      name: quoteIdentifier(codec.model.table),
      cells: codec.columns.map((column, position) => columnCell(codec, column, position)),
      columns: codec.columns.map(({ descriptor }, position) => ({
        name: quoteIdentifier(descriptor.column),
        sql: ({ cell }) => cell(`c${position}`),
      })),
    };
    known.set(codec, table);
  }
  return table;
}

function columnCell(codec: RowCodec, column: CodedColumn, position: number): Cell<RowChange> {
  const { sqlType } = column.descriptor;
  return {
    name: `c${position}`,
    type: parameterType(sqlType),
    one: ({ model }) => codec.text(column, model),
    manyType: arrayType(sqlType),
    many: (rows) =>
      codec.array(
        column,
        rows.map(({ row }) => row.model),
      ),
  };
}
