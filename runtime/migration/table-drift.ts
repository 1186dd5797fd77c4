import type { ModelDescriptor } from '../domain/entity.js';
import { normalizeType } from '../domain/sql-type.js';
import { type ExpectedIndex, isIndexOf } from './key-index.js';
import type { ColumnFacts, SchemaSnapshot } from './schema-snapshot.js';

/** A model's table, as the code requires it. */
export interface ExpectedTable {
  readonly table: string;
  readonly columns: readonly ExpectedColumn[];
  /** Indexes of the model's natural keys. Default none. */
  readonly indexes?: readonly ExpectedIndex[];
}

export interface ExpectedColumn {
  readonly name: string;
  /** In the code's spelling: `numeric(19,4)`. */
  readonly type: string;
  readonly nullable: boolean;
}

/** One difference between a table and its model. */
export interface TableDrift {
  readonly table: string;
  /** Undefined if the difference concerns the table itself, or an index. */
  readonly column: string | undefined;
  readonly kind:
    | 'missing-table'
    | 'missing-index'
    | 'missing-column'
    | 'type'
    | 'not-null'
    | 'nullable'
    | 'unknown-required';
  /** A description of the existing and the required state. */
  readonly message: string;
}

/** The table of a model. */
export function expectedTable(model: ModelDescriptor): ExpectedTable {
  const { table, columns, keys = [], deletedStates = [] } = model;
  return {
    table,
    indexes: keys.map(({ index, fields }) => ({
      name: index,
      columns: fields.flatMap((field) => columns.find((each) => each.field === field)?.column ?? []),
      deletedStates,
    })),
    columns: columns.map(({ column, sqlType, nullable, optional }) => ({
      name: column,
      type: sqlType,
      nullable: nullable === true || optional === true,
    })),
  };
}

/**
 * Differences that prevent reading or writing these models. Unknown columns are accepted, unless rows cannot be
 * inserted without a value for them.
 */
export function tableDrift(
  expected: readonly ExpectedTable[],
  schema: SchemaSnapshot,
): readonly TableDrift[] {
  return expected.flatMap((each) => driftOf(each, schema));
}

function driftOf(
  { table, columns, indexes = [] }: ExpectedTable,
  schema: SchemaSnapshot,
): readonly TableDrift[] {
  const found = schema.tables.get(table);
  if (found === undefined) {
    const schemaName = schema.elsewhere?.get(table);
    const where =
      schemaName === undefined ? '' : ` here, but in the schema ${schemaName}: check the user's search_path`;
    return [
      { table, column: undefined, kind: 'missing-table', message: `table ${table} does not exist${where}` },
    ];
  }
  const present = new Map(found.columns.map((column) => [column.name, column]));
  const wanted = new Set(columns.map(({ name }) => name));
  const missing = columns.flatMap((column) => columnDrift(table, column, present.get(column.name)));
  const unknown = found.columns.filter(
    ({ name, nullable, filledIn }) => !wanted.has(name) && !nullable && !filledIn,
  );
  const isThere = (index: ExpectedIndex): boolean =>
    found.uniqueIndexes?.some((each) => each.name === index.name && isIndexOf(index, each)) === true;
  return [
    ...missing,
    ...indexes
      .filter((index) => !isThere(index))
      .map(({ name, columns: keys }) => ({
        table,
        column: undefined,
        kind: 'missing-index' as const,
        message: `table ${table} has no unique index ${name} on (${keys.join(', ')})`,
      })),
    ...unknown.map(({ name }) => ({
      table,
      column: name,
      kind: 'unknown-required' as const,
      message: `column ${table}.${name} is not null, but no field of the model sets it`,
    })),
  ];
}

function columnDrift(
  table: string,
  expected: ExpectedColumn,
  found: ColumnFacts | undefined,
): readonly TableDrift[] {
  const column = expected.name;
  const drift = (kind: TableDrift['kind'], message: string): TableDrift => ({
    table,
    column,
    kind,
    message: `column ${table}.${column} ${message}`,
  });
  if (found === undefined)
    return [drift('missing-column', `does not exist; the model requires ${expected.type}`)];
  const differences: TableDrift[] = [];
  if (normalizeType(found.type) !== normalizeType(expected.type)) {
    differences.push(drift('type', `is ${found.type}; the model requires ${expected.type}`));
  }
  if (expected.nullable && !found.nullable) {
    differences.push(drift('not-null', 'is not null, but the field is optional'));
  }
  if (!expected.nullable && found.nullable) {
    differences.push(drift('nullable', 'may be null, but the field is required'));
  }
  return differences;
}
