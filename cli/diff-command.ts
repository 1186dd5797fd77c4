import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
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
import { makeFiles } from './make-files.js';

interface DiffOptions {
  readonly config: string;
  readonly name: string;
  readonly dryRun?: boolean;
  readonly check?: boolean;
  readonly backfill: ReadonlyMap<string, string>;
  readonly drop: ReadonlySet<string>;
  readonly convert: ReadonlySet<string>;
}

/** Adds `fw-gen migrate diff`. */
export function addDiffCommand(migrate: Command, context: CommandContext): void {
  withConfig(migrate.command('diff'))
    .description(
      'Writes the next migration: the difference between the existing migrations and the models. Needs no database.',
    )
    .option('--name <name>', 'name of the migration, behind its number', title, 'change')
    .option(
      '--backfill <column=sql>',
      "value for rows that have none: wallets.note='none'",
      addBackfill,
      new Map(),
    )
    .option('--drop <column>', 'drop this column and its data: wallets.note', addColumn, new Set())
    .option('--convert <column>', 'change the type even if some values may not convert', addColumn, new Set())
    .option('--dry-run', 'only show the migration')
    .option('--check', 'write nothing, and exit with 1 if a migration is missing')
    .action((options: DiffOptions) => context.run(() => writeNext(options, context.output)));
}

async function writeNext(options: DiffOptions, output: Output): Promise<ExitCode> {
  const config = readProjectConfig(options.config);
  const folders = projectFolders(config);
  const migrations = await readMigrations(config);
  const { nextMigrations, readModelTables, sqlName } = await import('../generator/migrations.js');
  const { tables, diagnostics } = await readModelTables(folders);
  requireNone(diagnostics);
  const { planNextMigration } = await import('../runtime/operations.js');
  const {
    statements,
    validations,
    tables: changed,
    refusals,
    notes,
  } = await planNextMigration(migrations, tables, options, sqlName);
  if (options.check === true)
    return reportMissing(
      [...refusals, ...[...statements, ...validations].map((statement) => `missing: ${statement}`)],
      output,
    );
  if (refusals.length > 0) throw new InputError(`${refusals.join('\n')}\nNothing was written.`);
  for (const note of notes) output.error(`Note: ${note}`);
  if (statements.length + validations.length === 0) {
    output.info('The migrations match the models: nothing to do.');
    return EXIT.success;
  }
  // Constraints that were added without reading the rows are validated in a separate transaction, which blocks no
  // writer.
  const planned = [
    [options.name, statements],
    [`validate_${options.name}`, validations],
  ] as const;
  const files = nextMigrations(migrations, planned, changed);
  if (options.dryRun === true) {
    output.info(files.map(({ text }) => text.trimEnd()).join('\n'));
    return EXIT.success;
  }
  const paths = files.map(({ file, text }) => [join(folders.migrationsDirectory, file), text] as const);
  for (const [path] of paths)
    if (existsSync(path)) throw new InputError(`${path} already exists. Delete it, or choose another name.`);
  makeFiles(new Map(paths));
  for (const [path] of paths) {
    output.info(`${relative(folders.projectDirectory, path)} written: read it, then run fw-gen generate.`);
  }
  return EXIT.success;
}

/** For pipelines: lists the missing changes without writing them. */
function reportMissing(lines: readonly string[], output: Output): ExitCode {
  if (lines.length === 0) {
    output.info('The migrations match the models.');
    return EXIT.success;
  }
  for (const line of lines) output.error(line);
  output.error('The models need a migration. Run `fw-gen migrate diff`, then `fw-gen generate`.');
  return EXIT.drift;
}

function title(text: string): string {
  if (/^[a-z0-9_]{1,60}$/.test(text)) return text;
  throw new InvalidArgumentError('Use lower-case letters, digits and underscores.');
}

function addBackfill(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const [, column, value] = /^([^=]+\.[^=]+?)\s*=(.+)$/s.exec(text) ?? [];
  if (column === undefined || value === undefined) throw new InvalidArgumentError('Write table.column=sql.');
  return new Map([...before, [column, value.trim()]]);
}

function addColumn(text: string, before: ReadonlySet<string>): ReadonlySet<string> {
  if (!/^[^.]+\..+$/.test(text)) throw new InvalidArgumentError('Write table.column.');
  return new Set([...before, text]);
}
