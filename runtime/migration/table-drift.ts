import type { ModelDescriptor } from '../domain/entity.js';
import { normalizeType } from '../domain/sql-type.js';
import { type ExpectedIndex, isIndexOf } from './key-index.js';
import type { ColumnFacts, SchemaSnapshot } from './schema-snapshot.js';
import { canReplace } from './widening.js';

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
 * Differences that prevent reading or writing these models: descriptions of the existing and the required state.
 * Unknown columns are accepted, unless rows cannot be inserted without a value for them. The runtime's own tables must
 * have their primary keys: without that of idempotency keys, each repeat would be applied.
 */
export function tableDrift(expected: readonly ExpectedTable[], schema: SchemaSnapshot): readonly string[] {
  return [...expected.flatMap((each) => driftOf(each, schema)), ...ownDrift(schema)];
}

function ownDrift({ elsewhere, lines }: SchemaSnapshot): readonly string[] {
  return [...elsewhere]
    .filter(([, schemaName]) => schemaName === 'eventlog')
    .map(([table]) => `eventlog.${table}`)
    .filter((table) => !lines.some((line) => line.startsWith(`constraint ${table}: PRIMARY KEY`)))
    .map((table) => `table ${table} has no primary key`);
}

function driftOf({ table, columns, indexes = [] }: ExpectedTable, schema: SchemaSnapshot): readonly string[] {
  const found = schema.tables.get(table);
  if (found === undefined) {
    const schemaName = schema.elsewhere.get(table);
    const where =
      schemaName === undefined ? '' : ` here, but in the schema ${schemaName}: check the user's search_path`;
    return [`table ${table} does not exist${where}`];
  }
  const present = new Map(found.columns.map((column) => [column.name, column]));
  const wanted = new Set(columns.map(({ name }) => name));
  const unknown = found.columns.filter(
    ({ name, nullable, filledIn }) => !wanted.has(name) && !nullable && !filledIn,
  );
  const missing = indexes.filter(
    (index) => !found.uniqueIndexes.some((each) => each.name === index.name && isIndexOf(index, each)),
  );
  return [
    ...columns.flatMap((column) =>
      columnDrift(column, present.get(column.name)).map((drift) => `column ${table}.${column.name} ${drift}`),
    ),
    ...missing.map(
      (index) => `table ${table} has no unique index ${index.name} on (${index.columns.join(', ')})`,
    ),
    ...unknown.map(({ name }) => `column ${table}.${name} is not null, but no field of the model sets it`),
  ];
}

function columnDrift({ type, nullable }: ExpectedColumn, found: ColumnFacts | undefined): readonly string[] {
  if (found === undefined) return [`does not exist; the model requires ${type}`];
  const differences: string[] = [];
  // The next release may have widened the column.
  if (normalizeType(found.type) !== normalizeType(type) && !canReplace(type, found.type))
    differences.push(`is ${found.type}; the model requires ${type}`);
  if (nullable && !found.nullable) differences.push('is not null, but the field is optional');
  if (!nullable && found.nullable) differences.push('may be null, but the field is required');
  return differences;
}
