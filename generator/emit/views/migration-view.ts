import { type ColumnSchema, columnsOf, parseNumeric } from '../../schema/columns.js';
import { type KeyIndex, keyIndexes } from '../../schema/key-indexes.js';
import { modelNames } from '../../schema/model-names.js';
import type { ModelSchema } from '../../schema/project-schema.js';
import { sqlLiteral, sqlName } from '../print/sql.js';
import { commentText } from '../print/strings.js';

/** View of `migration.hbs`: the statements that create a model's table and its indexes. */
export interface MigrationView {
  /** Comments that declare the place and the tables of the migration. */
  readonly header: readonly string[];
  /** Path of the model's file, safe in a comment. */
  readonly source: string;
  /** Table name as SQL spells it. */
  readonly table: string;
  /** Name, type and constraints of each column. */
  readonly columns: readonly string[];
  /** Statements that create the indexes of natural keys. */
  readonly indexes: readonly string[];
}

/** Builds the view of `migration.hbs`. */
export function migrationView(model: ModelSchema, header: readonly string[]): MigrationView {
  const { table } = modelNames(model);
  return {
    header,
    source: commentText(model.file).replaceAll('\n', ' '),
    table: sqlName(table),
    columns: columnsOf(model).map((column) => columnDefinition(model, column)),
    indexes: keyIndexes(model).map((index) => indexDefinition(table, index)),
  };
}

/**
 * Returns the statement that creates the index of a natural key. The index excludes deleted states, so deleted models
 * release their keys.
 */
export function indexDefinition(
  table: string,
  { name, columns, stateColumn, deletedStates }: KeyIndex,
): string {
  const states = deletedStates.map(sqlLiteral).join(', ');
  const live = states === '' ? '' : ` where ${sqlName(stateColumn)} not in (${states})`;
  return `create unique index ${sqlName(name)} on ${sqlName(table)} (${columns.map(sqlName).join(', ')})${live}`;
}

/** Returns name, type and constraints of a column, as `create table` and `add column` spell them. */
export function columnDefinition(
  model: ModelSchema,
  { field, inherited, column, sqlType }: ColumnSchema,
): string {
  const name = sqlName(column);
  if (inherited && field.name === 'id') {
    // The database refuses rows of other shards.
    return `${name} ${sqlType} primary key${model.sharded ? ` check (eventlog.is_own_id(${name}))` : ''}`;
  }
  // States have no check: a new state would need a migration before the release that knows it.
  const notNull = field.optional || field.nullable ? '' : ' not null';
  const check = finiteCheck({ column, sqlType });
  return `${name} ${sqlType}${notNull}${check === undefined ? '' : ` check (${check})`}`;
}

/** Returns the condition of a column's check; undefined if its type has neither NaN nor infinity. */
export function finiteCheck({
  column,
  sqlType,
}: Pick<ColumnSchema, 'column' | 'sqlType'>): string | undefined {
  return mayBeInfinite(sqlType) ? `${sqlName(column)} not in ('NaN', 'Infinity', '-Infinity')` : undefined;
}

function mayBeInfinite(sqlType: string): boolean {
  return (
    parseNumeric(sqlType) !== undefined ||
    /^(numeric|decimal|real|float[48]?|double precision)$/i.test(sqlType)
  );
}
