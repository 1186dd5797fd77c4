import { basename, join, relative } from 'node:path';
import type { FoundRename, MigrationText, NewMigration, RenameRelease } from '../generator/migrations.js';
import {
  type CommandContext,
  InputError,
  projectFolders,
  readMigrations,
  readProjectConfig,
  requireNone,
  withConfig,
} from './command-context.js';
import { type Command, InvalidArgumentError } from './commander.js';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { examples } from './help.js';
import { makeFiles } from './make-files.js';

interface RenameOptions {
  readonly config: string;
  readonly finish?: boolean;
  readonly dryRun?: boolean;
}

interface RenamedField {
  readonly model: string;
  readonly field: string;
}

/** Adds `fw-gen migrate rename`. */
export function addRenameCommand(migrate: Command, context: CommandContext): void {
  withConfig(migrate.command('rename'))
    .description(
      'Writes the migrations that rename a column over two releases while processes of the previous release keep running. Needs no database: it tests them on an embedded one in memory.',
    )
    .argument('<Model.field>', 'the field by its current name', modelField)
    .argument('<newField>', 'its new name', fieldName)
    .option('--finish', 'write the migration of the second release, which drops the old column')
    .option('--dry-run', 'only show the migrations')
    .addHelpText(
      'after',
      examples(
        ['fw-gen migrate rename Wallet.owner holder', 'for this release: add, copy, keep both in sync'],
        ['fw-gen migrate rename Wallet.owner holder --finish', 'for the next one: drop the old column'],
      ),
    )
    .action((from: RenamedField, to: string, options: RenameOptions) =>
      context.run(() => writeRename(from, to, options, context.output)),
    );
}

async function writeRename(
  from: RenamedField,
  to: string,
  options: RenameOptions,
  output: Output,
): Promise<ExitCode> {
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
  if (options.dryRun === true) {
    output.info(
      files
        .map(({ file, text }) => `-- ${file}\n${text}`)
        .join('\n')
        .trimEnd(),
    );
    return EXIT.success;
  }
  makeFiles(new Map(files.map(({ file, text }) => [join(folders.migrationsDirectory, file), text])));
  for (const { file } of files) {
    output.info(`${relative(folders.projectDirectory, join(folders.migrationsDirectory, file))} written.`);
  }
  output.info(options.finish === true ? AFTER_FINISH : afterBegin(from, to, rename));
  return EXIT.success;
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
  const { FwError, withTrial } = await import('../runtime/operations.js');
  return withTrial(async (trial) => {
    const { tables, checks } = await trial.run(present);
    const table = tables.get(rename.table);
    const problem = tableProblem(rename, table, release);
    if (problem !== undefined) throw refused(problem);
    const isBegin = release === 'begin';
    const found = table?.columns.find(({ name }) => name === (isBegin ? rename.from : rename.to));
    const refusesNaN = (checks?.get(rename.table) ?? []).some(
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
    `Read them, rename ${model}.${field} to ${to} in the sources (without @renamedFrom), then run fw-gen generate. ` +
    `Indexes, unique and check constraints of ${from} stay with it: add those of the new column yourself. ` +
    `For the release after this one, run: fw-gen migrate rename ${model}.${field} ${to} --finish`
  );
}

const MODEL_FIELD =
  'Write Model.field. A field inside a JSON column has no column of its own: add the new one as optional, write ' +
  'both for one release, and remove the old one in the next.';

function modelField(text: string): RenamedField {
  const [, model, field] = /^([A-Za-z_$][\w$]*)\.([A-Za-z_$][\w$]*)$/.exec(text) ?? [];
  if (model === undefined || field === undefined) throw new InvalidArgumentError(MODEL_FIELD);
  return { model, field };
}

function fieldName(text: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(text)) return text;
  throw new InvalidArgumentError('Write the name of a field.');
}
