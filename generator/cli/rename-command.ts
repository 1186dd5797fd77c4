import { join, relative } from 'node:path';
import type { ColumnRename, RenameMigration } from '../migrations.js';
import {
  type CommandContext,
  InputError,
  projectFolders,
  readConfig,
  readMigrations,
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
      'Writes the migrations that rename a column over two releases, while processes of the release before go on. Needs no database.',
    )
    .argument('<Model.field>', 'the field as it has been called so far', modelField)
    .argument('<newField>', 'its new name', fieldName)
    .option('--finish', 'write the migration of the second release, which drops the old column')
    .option('--dry-run', 'only show the migrations')
    .addHelpText(
      'after',
      examples(
        ['fw-gen migrate rename Wallet.owner holder', 'for this release: add, copy, keep both in step'],
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
  const config = readConfig(options.config);
  const folders = projectFolders(config);
  const present = await readMigrations(config);
  const { dropMigration, findRename, isAdditionOf, numbered, renameMigrations } = await import(
    '../migrations.js'
  );
  const { rename, diagnostics } = await findRename(folders, { ...from, to });
  requireNone(diagnostics);
  if (typeof rename === 'string') throw new InputError(`${rename} Nothing was written.`);
  const isBegun = present.some(({ name }) => isAdditionOf(rename, name));
  const place = `${rename.table}.${rename.from}`;
  if (options.finish === true && !isBegun)
    throw new InputError(
      `No migration has begun to rename ${place}: run the command without --finish first.`,
    );
  if (options.finish !== true && isBegun)
    throw new InputError(`${place} is being renamed already: finish it with --finish, in the next release.`);
  const migrations: readonly RenameMigration[] =
    options.finish === true ? [dropMigration(rename)] : renameMigrations(rename);
  const files = numbered(present, migrations);
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

const AFTER_FINISH =
  'Read it, then run fw-gen generate. Release it when no process of the release before the rename is running any more.';

function afterBegin({ model, field }: RenamedField, to: string, { from }: ColumnRename): string {
  return (
    `Read them, rename ${model}.${field} to ${to} in the sources (without @renamedFrom), then run fw-gen generate. ` +
    `Indexes, unique and check constraints of ${from} stay with it: add those of the new column yourself. ` +
    `For the release after this one, run: fw-gen migrate rename ${model}.${field} ${to} --finish`
  );
}

function modelField(text: string): RenamedField {
  const [, model, field] = /^([A-Za-z_$][\w$]*)\.([A-Za-z_$][\w$]*)$/.exec(text) ?? [];
  if (model === undefined || field === undefined) throw new InvalidArgumentError('Write Model.field.');
  return { model, field };
}

function fieldName(text: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(text)) return text;
  throw new InvalidArgumentError('Write the name of a field.');
}
