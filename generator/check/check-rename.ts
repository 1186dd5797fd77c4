import { type ColumnRename, isSameRename, openRenames, type RenameStep } from '../schema/column-rename.js';
import { columnsOf } from '../schema/columns.js';
import { modelNames } from '../schema/model-names.js';
import { snakeCase } from '../schema/naming.js';
import type { ModelSchema } from '../schema/project-schema.js';

/** The rename of a field. */
export interface FieldRename {
  readonly model: string;
  readonly field: string;
  readonly to: string;
}

/** The meaning of a field's rename according to the sources. */
export interface FoundRename extends ColumnRename {
  /** Whether the sources already have the new name. */
  readonly isInSources: boolean;
  /** Fields of the natural key that contains the field; empty if none does. */
  readonly key: readonly string[];
}

/** A table according to the current migrations. */
export interface RenamedTable {
  readonly columns: readonly { readonly name: string }[];
  readonly uniqueIndexes?: readonly { readonly name: string; readonly columns: readonly string[] }[];
}

/**
 * Finds the column of a field. The sources may have either name.
 *
 * @returns a text with the reason if there is none
 */
export function findColumn(
  models: readonly ModelSchema[],
  { model: name, field, to }: FieldRename,
): FoundRename | string {
  const model = models.find((each) => each.name === name);
  if (model === undefined) {
    const known = models.map((each) => each.name).join(', ');
    return `Model ${name} does not exist. Choose one of: ${known}.`;
  }
  const columns = columnsOf(model);
  const [before, after] = [field, to].map((each) => columns.find((column) => column.field.name === each));
  if (before !== undefined && after !== undefined)
    return `${name} has both fields, ${field} and ${to}. Choose another name, or remove one of them first.`;
  const column = before ?? after;
  if (column === undefined)
    return `${name} has neither field, ${field} nor ${to}. Check the spelling of both.`;
  if (column.inherited) return `${field} is a field of every model and keeps its name. Rename another field.`;
  const rename = {
    table: modelNames(model).table,
    from: before?.column ?? snakeCase(field),
    to: after?.column ?? snakeCase(to),
  };
  if (rename.from === rename.to)
    return `Both names map to the column ${rename.to}. Rename the field in the sources. No migration is needed.`;
  const keys = (model.keys ?? []).map(({ fields }) => fields.map(({ value }) => value));
  return {
    ...rename,
    isInSources: after !== undefined,
    key: keys.find((fields) => fields.includes(column.field.name)) ?? [],
  };
}

/** The release of a rename to write. */
export type RenameRelease = 'begin' | 'finish';

/**
 * The reason why a release of a rename cannot be written, according to the sources and the migrations' texts.
 * @param named as on the command line
 */
export function renameProblem(
  rename: FoundRename,
  named: FieldRename,
  steps: readonly RenameStep[],
  release: RenameRelease,
): string | undefined {
  const open = openRenames(steps);
  return release === 'begin'
    ? beginProblem(rename, named, open)
    : finishProblem(rename, named, {
        isOpen: open.some((each) => isSameRename(each, rename)),
        isEnded: steps.some((step) => step.step === 'ends' && isSameRename(step, rename)),
      });
}

function beginProblem(
  rename: FoundRename,
  named: FieldRename,
  open: readonly ColumnRename[],
): string | undefined {
  const { table, from, to, key } = rename;
  if (open.some((each) => isSameRename(each, rename)))
    return (
      `The rename of ${table}.${from} to ${to} has already begun. Finish it in the next release: ` +
      `fw-gen migrate rename ${named.model}.${named.field} ${named.to} --finish.`
    );
  const other = open.find((each) => each.table === table && sharesColumn(each, rename));
  if (other !== undefined)
    return (
      `The rename of ${table}.${other.from} to ${other.to} is not finished. ` +
      'Finish it with --finish and release that first.'
    );
  if (key.length > 0)
    return (
      `${named.model}.${named.field} is part of the natural key (${key.join(', ')}): processes of the older ` +
      'release would not recognize a violation of the new unique index. Rename it while no process runs, in a ' +
      `migration of your own: alter table ${table} rename column ${from} to ${to}`
    );
  return undefined;
}

function finishProblem(
  { table, from, to, isInSources }: FoundRename,
  named: FieldRename,
  { isOpen, isEnded }: { readonly isOpen: boolean; readonly isEnded: boolean },
): string | undefined {
  if (!isOpen && isEnded) return `The rename of ${table}.${from} to ${to} is already finished.`;
  if (!isOpen)
    return `No migration has begun the rename of ${table}.${from} to ${to}. Run the command without --finish first.`;
  if (!isInSources)
    return (
      `The sources still have ${named.model}.${named.field}. Rename it to ${named.to}, run fw-gen generate, and ` +
      'release that before you drop the old column.'
    );
  return undefined;
}

/**
 * The reason why a release of a rename cannot be written, according to the table.
 * @param table undefined if no migration creates it
 */
export function tableProblem(
  rename: ColumnRename,
  table: RenamedTable | undefined,
  release: RenameRelease,
): string | undefined {
  if (table === undefined)
    return `No migration creates the table ${rename.table}. Run fw-gen generate, which writes its first migration.`;
  return release === 'begin' ? columnProblem(rename, table) : indexProblem(rename, table);
}

function columnProblem({ table, from, to }: ColumnRename, { columns }: RenamedTable): string | undefined {
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  if (has(to))
    return has(from)
      ? `The migrations already create a column ${table}.${to}. Choose another name, or drop that column first.`
      : `The migrations create the column ${table}.${to} and no column ${from}. No rename is needed.`;
  if (!has(from))
    return `No migration creates a column ${table}.${from}. Check the spelling, or run fw-gen migrate diff first.`;
  return undefined;
}

/** Dropping the old column drops every index that contains it. */
function indexProblem(
  { table, from, to }: ColumnRename,
  { uniqueIndexes = [] }: RenamedTable,
): string | undefined {
  const renamed = (columns: readonly string[]): readonly string[] =>
    columns.map((column) => (column === from ? to : column));
  const isSame = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.every((each) => b.includes(each));
  const lost = uniqueIndexes.find(
    ({ columns }) =>
      columns.includes(from) && !uniqueIndexes.some((each) => isSame(each.columns, renamed(columns))),
  );
  if (lost === undefined) return undefined;
  return (
    `Dropping ${table}.${from} also drops the unique index ${lost.name}, and there is no unique index on ` +
    `(${renamed(lost.columns).join(', ')}). Add a migration that creates one, or one that drops the old index.`
  );
}

function sharesColumn(a: ColumnRename, b: ColumnRename): boolean {
  return [a.from, a.to].some((column) => column === b.from || column === b.to);
}
