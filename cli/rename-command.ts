import { basename, join, relative } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type {
  FieldRename,
  FoundRename,
  MigrationText,
  NewMigration,
  RenameRelease,
} from '../generator/migrations.js';
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
  dryRun: flag('--dry-run', 'only show the migrations'),
};

/** `fw-gen migrate rename` */
export const RENAME: CommandEntry = command({
  name: 'rename',
  about:
    'Writes the migrations that rename a column over two releases while processes of the previous release keep running. Needs no database: it tests them on an embedded one in memory.',
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
  const { findRename, renameProblem, renameSteps } = await import('../generator/migrations.js');
  const { rename, diagnostics } = await findRename(folders, { ...from, to });
  requireNone(diagnostics);
  if (typeof rename === 'string') throw refused(rename);
  const release = options.finish === true ? 'finish' : 'begin';
  const steps = renameSteps(present.map(({ up }) => up));
  const problem = renameProblem(rename, { ...from, to }, steps, release);
  if (problem !== undefined) throw refused(problem);
  const files = await tryOut(rename, present, release);
  const shown = files.map(({ file, text }) => `-- ${file}\n${text}`).join('\n');
  if (options.dryRun === true) return [shown.trimEnd()];
  const texts = new Map(files.map(({ file, text }) => [join(folders.migrationsDirectory, file), text]));
  makeFiles(texts);
  return [
    ...[...texts.keys()].map((path) => `${relative(folders.projectDirectory, path)} written.`),
    options.finish === true ? AFTER_FINISH : afterBegin(from, to, rename),
  ];
}

/**
 * Writes the migrations for the current table, and runs them on it, in memory.
 *
 * @throws InputError if they cannot be applied
 */
async function tryOut(
  rename: FoundRename,
  present: readonly MigrationText[],
  release: RenameRelease,
): Promise<readonly NewMigration[]> {
  const { dropMigration, named, renameMigrations, tableProblem } = await import('../generator/migrations.js');
  const { withTrial } = await import('../runtime/operations.js');
  return withTrial(async (trial) => {
    const { tables } = await trial.run(present);
    const table = tables.get(rename.table);
    const problem = tableProblem(rename, table, release);
    if (problem !== undefined) throw refused(problem);
    const isBegin = release === 'begin';
    const found = table?.columns.find(({ name }) => name === (isBegin ? rename.from : rename.to));
    const refusesNaN = (table?.checks ?? []).some(
      ({ columns, definition, isValidated }) =>
        isValidated && columns.join() === rename.from && definition.includes("'NaN'"),
    );
    const { type = '', nullable = false } = found ?? {};
    const column = { ...rename, type, nullable, refusesNaN };
    const files = named(present, isBegin ? renameMigrations(column) : [dropMigration(column)], rename.table);
    const next = files.map(({ file, text }) => ({ name: basename(file, '.sql'), up: text }));
    try {
      await trial.run([...present, ...next]);
    } catch (error) {
      if (!(error instanceof FwError)) throw error;
      throw refused(
        `${error.message}. First change the object that this message names, in a separate migration.`,
      );
    }
    return files;
  });
}

function refused(reason: string): InputError {
  return new InputError(`${reason} Nothing was written.`);
}

const AFTER_FINISH =
  'Read it, then run fw-gen generate. Release it once no process of the release before the rename is running.';

function afterBegin({ model, field }: RenamedField, to: string, { from }: FoundRename): string {
  return (
    `Read them, rename ${model}.${field} to ${to} in the sources, then run fw-gen generate. ` +
    `Indexes, unique and check constraints of ${from} stay with it: add those of the new column yourself. ` +
    `For the release after this one, run: fw-gen migrate rename ${model}.${field} ${to} --finish`
  );
}

const MODEL_FIELD =
  'Write Model.field. A field inside a JSON column has no column of its own: add the new one as optional, write ' +
  'both for one release, and remove the old one in the next.';

function modelField(text: string): RenamedField {
  const [, model, field] =
    /^([\p{ID_Start}_$][\p{ID_Continue}$]*)\.([\p{ID_Start}_$][\p{ID_Continue}$]*)$/u.exec(text) ?? [];
  if (model === undefined || field === undefined) throw new InvalidArgumentError(MODEL_FIELD);
  return { model, field };
}

function fieldName(text: string): string {
  if (/^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(text) && text !== '__proto__') return text;
  throw new InvalidArgumentError('Write the name of a field.');
}
