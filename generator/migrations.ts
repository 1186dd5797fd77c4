import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectFolders } from './check/check-folders.js';
import { checkMigrationOrder } from './check/check-migrations.js';
import { type FieldRename, findColumns, type RenameRelease } from './check/check-rename.js';
import type { Diagnostic } from './diagnostics.js';
import { nameMigration } from './emit/migration-names.js';
import { sqlLiteral } from './emit/print/sql.js';
import { columnDefinition, finiteCheck, indexDefinition } from './emit/views/migration-view.js';
import { attempt } from './read/attempt.js';
import { listMigrations } from './read/list-files.js';
import { readMigration } from './read/read-migrations.js';
import { readSchema } from './read-schema.js';
import { type ColumnRename, openRenames } from './schema/column-rename.js';
import { columnsOf } from './schema/columns.js';
import { defined } from './schema/defined.js';
import { keyIndexes } from './schema/key-indexes.js';
import { modelNames } from './schema/model-names.js';
import { relativeTo } from './schema/paths.js';
import type { MigrationFile, ModelSchema } from './schema/project-schema.js';

export { type FieldRename, type RenameRelease, tableProblem } from './check/check-rename.js';
export { sqlName } from './emit/print/sql.js';
export { renameSql } from './emit/rename-sql.js';
export { type ColumnRename, openRenames } from './schema/column-rename.js';
export type { MigrationFile } from './schema/project-schema.js';

/** The migrations of a project, and the mistakes in their files. */
export interface ReadMigrations {
  /** Sorted by name. */
  readonly migrations: readonly MigrationFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the migrations folder. @param folders absolute paths */
export function readMigrations({
  projectDirectory,
  migrationsDirectory,
}: Pick<ProjectFolders, 'projectDirectory' | 'migrationsDirectory'>): ReadMigrations {
  const folder = relativeTo(projectDirectory, migrationsDirectory);
  const migrations: MigrationFile[] = [];
  const diagnostics: Diagnostic[] = [];
  const files = attempt(diagnostics, folder, () => listMigrations(projectDirectory, folder)) ?? [];
  for (const file of files) {
    const text = attempt(diagnostics, file, () => readFileSync(join(projectDirectory, file), 'utf8'));
    if (text === undefined) continue;
    const read = readMigration(file, text, folder);
    if ('up' in read) migrations.push(read);
    else diagnostics.push(read);
  }
  diagnostics.push(...checkMigrationOrder(migrations));
  return { migrations, diagnostics };
}

/** The table of a model, as the sources require it. */
export interface ModelTable {
  readonly table: string;
  /** Whether its ids contain a shard. */
  readonly sharded: boolean;
  readonly columns: readonly ModelColumn[];
  readonly indexes: readonly ModelIndex[];
}

/** The unique index of a natural key. */
export interface ModelIndex {
  readonly name: string;
  readonly columns: readonly string[];
  /** States of rows that the index excludes. */
  readonly deletedStates: readonly string[];
  /** The complete `create unique index` statement. */
  readonly definition: string;
}

export interface ModelColumn {
  readonly name: string;
  /** In the sources' spelling. */
  readonly type: string;
  readonly nullable: boolean;
  /** Name, type and constraints, in the syntax of `create table` and `add column`. */
  readonly definition: string;
  /** The condition of its check, which is part of the definition. */
  readonly check?: string;
  /** The values of a field with a fixed list of them, as SQL literals. */
  readonly values?: readonly string[];
}

/** Reads the sources and returns the tables that their models need. */
export async function readModelTables(folders: ProjectFolders): Promise<{
  readonly tables: readonly ModelTable[];
  readonly diagnostics: readonly Diagnostic[];
}> {
  const { schema, diagnostics } = readSchema(folders);
  return { tables: (schema?.models ?? []).map(tableOf), diagnostics };
}

/** The column rename of a field's rename. @returns a text with the reason if its release cannot be written */
export async function findRename(
  folders: ProjectFolders,
  field: FieldRename,
  present: readonly MigrationFile[],
  release: RenameRelease,
): Promise<{ readonly rename: ColumnRename | string; readonly diagnostics: readonly Diagnostic[] }> {
  const { schema, diagnostics } = readSchema(folders);
  const open = openRenames(present.map(({ up }) => up));
  return { rename: findColumns(schema?.models ?? [], field, open, release), diagnostics };
}

function tableOf(model: ModelSchema): ModelTable {
  const columns = columnsOf(model).map((column): ModelColumn => {
    const check = finiteCheck(column);
    const { type } = column.field;
    const values = type.kind === 'enum' ? type.values.map(sqlLiteral) : undefined;
    return {
      name: column.column,
      type: column.sqlType,
      nullable: column.field.optional || column.field.nullable,
      definition: columnDefinition(model, column),
      ...defined({ check, values }),
    };
  });
  const { table } = modelNames(model);
  const indexes = keyIndexes(model).map((index): ModelIndex => {
    const { name, columns: of, deletedStates } = index;
    return { name, columns: of, deletedStates, definition: indexDefinition(table, index) };
  });
  return { table, sharded: model.sharded, columns, indexes };
}

/** Returns the text of a migration that runs these statements, which have no semicolons. */
export function diffSql(statements: readonly string[]): string {
  const yours = '-- Written once by fw-gen migrate diff. It is yours now: review it before you apply it.\n';
  return yours + statements.map((statement) => `${statement};\n`).join('');
}

/** A new migration: its file name and text. */
export interface NewMigration {
  readonly name: string;
  readonly file: string;
  readonly up: string;
}

/**
 * Names a new migration after the time, and declares its tables.
 *
 * @param title of letters, digits and underscores
 * @param tables that the SQL changes
 */
export function nextMigration(
  present: readonly MigrationFile[],
  title: string,
  { sql, tables }: { readonly sql: string; readonly tables: readonly string[] },
  now: Date = new Date(),
): NewMigration {
  const { name, header } = nameMigration(present.at(-1)?.name, { title, tables }, now);
  return { name, file: `${name}.sql`, up: `${header.join('\n')}\n${sql}` };
}
