import type { ColumnRename } from '../schema/column-rename.js';
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

/** The release of a rename to write. */
export type RenameRelease = 'begin' | 'finish';

/** A table according to the current migrations. */
export interface RenamedTable {
  readonly columns: readonly { readonly name: string }[];
  readonly uniqueIndexes?: readonly { readonly name: string; readonly columns: readonly string[] }[];
}

/**
 * Returns the columns of a renamed field; a text with the reason if the release of the rename cannot be written.
 *
 * @param open renames that the migrations have begun and not ended
 */
export function findColumns(
  models: readonly ModelSchema[],
  { model: name, field, to: newField }: FieldRename,
  open: readonly ColumnRename[],
  release: RenameRelease,
): ColumnRename | string {
  const model = models.find((each) => each.name === name);
  if (model === undefined)
    return `Model ${name} does not exist. Choose one of: ${models.map((each) => each.name).join(', ')}.`;
  const columns = columnsOf(model);
  const [before, after] = [field, newField].map((each) =>
    columns.find((column) => column.field.name === each),
  );
  const column = before ?? after;
  if (column === undefined || (before !== undefined && after !== undefined))
    return `${name} must have one of the fields ${field} and ${newField}, and has ${column === undefined ? 'neither' : 'both'}. Check their spelling.`;
  if (column.inherited) return `${field} is a field of every model and keeps its name. Rename another field.`;
  const { table } = modelNames(model);
  const from = before?.column ?? snakeCase(field);
  const to = after?.column ?? snakeCase(newField);
  const other = open.find(
    (each) => each.table === table && [from, to].some((own) => own === each.from || own === each.to),
  );
  if (release === 'finish') {
    // A former column with a name of its own is no longer in the sources.
    const isMeant = other?.from === from || (before === undefined && other?.from === field);
    if (other?.to !== to || !isMeant)
      return `No migration has begun the rename of ${table}.${from} to ${to}, or one has finished it.`;
    if (before !== undefined)
      return `The sources still have ${name}.${field}. Rename it to ${newField}, run fw-gen generate, and release that before you drop the old column.`;
    return { table, from: other.from, to };
  }
  if (other !== undefined)
    return `The rename of ${table}.${other.from} to ${other.to} is not finished. Release it, and finish it in the next release with --finish.`;
  if (model.keys?.some(({ fields }) => fields.some(({ value }) => value === column.field.name)) === true)
    return (
      `${name}.${field} is part of a natural key: processes of the older release would not recognize a violation of ` +
      'the new unique index. Rename it while no process runs, in a migration of your own: ' +
      `alter table ${table} rename column ${from} to ${to}`
    );
  return { table, from, to };
}

/** Returns the reason why a release of a rename cannot be written for a table. @param found undefined: it does not exist */
export function tableProblem(
  { table, from, to }: ColumnRename,
  found: RenamedTable | undefined,
  release: RenameRelease,
): string | undefined {
  const has = (name: string): boolean => found?.columns.some((column) => column.name === name) === true;
  if (!has(from))
    return `No migration creates a column ${table}.${from}. Check the spelling, or run fw-gen generate and fw-gen migrate diff first.`;
  if (release === 'begin')
    return has(to)
      ? `The migrations already create a column ${table}.${to}. Choose another name, or drop that column first.`
      : undefined;
  const lost = found?.uniqueIndexes?.find(({ columns }) => columns.includes(from));
  return lost === undefined
    ? undefined
    : `Dropping ${table}.${from} also drops the unique index ${lost.name}. Add a migration that drops it, after one that creates its counterpart with ${to}.`;
}
