import { join, relative } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type {
  ColumnRename,
  FieldRename,
  MigrationFile,
  NewMigration,
  RenameRelease,
} from '../generator/migrations.js';
import { snakeCase } from '../generator/schema/naming.js';
import { FwError } from '../runtime/errors.js';
import { CONFIG, type CommandEntry, command, flag, type Input, type Values } from './command.js';
import { InputError } from './input-error.js';
import { makeFiles } from './make-files.js';
import { projectFolders, readMigrations, readProjectConfig, requireNone } from './project.js';

type RenamedField = Pick<FieldRename, 'model' | 'field'>;

const FROM: Input<RenamedField> = {
  flags: '<Model.field>',
  about: 'the field by its current name',
  parse: modelField,
};
const TO: Input<string> = { flags: '<newField>', about: 'its new name', parse: fieldName };
const INPUTS = {
  ...CONFIG,
  from: FROM,
  to: TO,
  finish: flag('--finish', 'write the migration of the second release, which drops the old column'),
  dryRun: flag('--dry-run', 'only show the migration'),
};

/** `fw-gen migrate rename` */
export const RENAME: CommandEntry = command({
  name: 'rename',
  about:
    'Writes the migration of one of the two releases that rename a column while processes of the previous release keep running. Needs no database: it tests the migration on an embedded one in memory.',
  examples: [
    ['fw-gen migrate rename Wallet.owner holder', 'for this release: add, copy, keep both in sync'],
    ['fw-gen migrate rename Wallet.owner holder --finish', 'for the next one: drop the old column'],
  ],
  inputs: INPUTS,
  run: async (options) => ({ lines: await writeRename(options) }),
});

async function writeRename({ from, to, ...options }: Values<typeof INPUTS>): Promise<readonly string[]> {
  const config = readProjectConfig(options.config);
  const folders = projectFolders(config);
  const present = await readMigrations(config);
  const { findRename } = await import('../generator/migrations.js');
  const release = options.finish === true ? 'finish' : 'begin';
  const { rename, diagnostics } = await findRename(folders, { ...from, to }, present, release);
  requireNone(diagnostics);
  if (typeof rename === 'string') throw refused(rename);
  const { file, up } = await tryOut(rename, present, release);
  if (options.dryRun === true) return [`-- ${file}\n${up.trimEnd()}`];
  const path = join(folders.migrationsDirectory, file);
  makeFiles(new Map([[path, up]]));
  return [
    `${relative(folders.projectDirectory, path)} written.`,
    release === 'finish' ? AFTER_FINISH : afterBegin(from, to, rename),
  ];
}

/**
 * Writes the migration for the current table, and runs it on that, in memory.
 *
 * @throws InputError if it cannot be applied
 */
async function tryOut(
  rename: ColumnRename,
  present: readonly MigrationFile[],
  release: RenameRelease,
): Promise<NewMigration> {
  const { nextMigration, renameSql, tableProblem } = await import('../generator/migrations.js');
  const { withTrial } = await import('../runtime/operations.js');
  return withTrial(async (trial) => {
    const { tables } = await trial.run(present);
    const table = tables.get(rename.table);
    const problem = tableProblem(rename, table, release);
    if (problem !== undefined) throw refused(problem);
    const { type = '', nullable = false } = table?.columns.find(({ name }) => name === rename.from) ?? {};
    const refusesNaN = (table?.checks ?? []).some(
      ({ columns, definition, isValidated }) =>
        isValidated && columns.join() === rename.from && definition.includes("'NaN'"),
    );
    const sql = renameSql(release, rename, { type, nullable, refusesNaN });
    const title = `${release}_rename_${rename.table}_${rename.to}`
      .replace(/[^A-Za-z0-9]+/g, '_')
      .slice(0, 60);
    const next = nextMigration(present, title, { sql, tables: [rename.table] });
    try {
      await trial.run([...present, next]);
    } catch (error) {
      if (!(error instanceof FwError)) throw error;
      throw refused(
        `${error.message}. First change the object that this message names, in a separate migration.`,
      );
    }
    return next;
  });
}

function refused(reason: string): InputError {
  return new InputError(`${reason} Nothing was written.`);
}

const AFTER_FINISH =
  'Read it, then run fw-gen generate. Release it once no process of the release before the rename is running.';

function afterBegin({ model, field }: RenamedField, to: string, { from }: ColumnRename): string {
  // The next release does not know a column that has another name than its field.
  const former = snakeCase(field) === from ? field : from;
  return (
    `Read it, rename ${model}.${field} to ${to} in the sources, then run fw-gen generate. ` +
    `Indexes, unique and check constraints of ${from} stay with it: add those of the new column yourself. ` +
    `For the release after this one, run: fw-gen migrate rename ${model}.${former} ${to} --finish`
  );
}

const NAME = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

function modelField(text: string): RenamedField {
  const [model = '', field = '', ...deeper] = text.split('.');
  if (NAME.test(model) && NAME.test(field) && deeper.length === 0) return { model, field };
  throw new InvalidArgumentError(
    'Write Model.field. A field inside a JSON column has no column of its own: add the new one as optional, write ' +
      'both for one release, and remove the old one in the next.',
  );
}

function fieldName(text: string): string {
  if (NAME.test(text) && text !== '__proto__') return text;
  throw new InvalidArgumentError('Write the name of a field.');
}
