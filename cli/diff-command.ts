import { join, relative } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { CONFIG, type CommandEntry, command, flag, type Report, value } from './command.js';
import { InputError } from './input-error.js';
import { makeFiles } from './make-files.js';
import { projectFolders, readMigrations, readProjectConfig, readTables } from './project.js';

/** `fw-gen migrate diff` */
export const DIFF: CommandEntry = command({
  name: 'diff',
  about:
    'Writes the next migration: the difference between the existing migrations and the models. Needs no database.',
  inputs: {
    ...CONFIG,
    name: value('--name <name>', 'name of the migration, behind its number', title, 'change'),
    backfill: value(
      '--backfill <column=sql>',
      "value for rows that have none: wallets.note='none'",
      addBackfill,
      new Map(),
    ),
    drop: value('--drop <column>', 'drop this column and its data: wallets.note', addColumn, new Set()),
    dryRun: flag('--dry-run', 'only show the migration'),
    check: flag('--check', 'write nothing, and exit with 1 if a migration is missing'),
  },
  run: async ({ config: file, ...options }, { output }) => {
    const config = readProjectConfig(file);
    const migrations = await readMigrations(config);
    const tables = await readTables(config);
    const { diffSql, nextMigration, openRenames, sqlName } = await import('../generator/migrations.js');
    const { planNextMigration } = await import('../runtime/operations.js');
    const unfinished = openRenames(migrations.map(({ up }) => up));
    const renaming = new Set(unfinished.map(({ table, from }) => `${table}.${from}`));
    const planned = await planNextMigration(migrations, tables, { ...options, renaming, quote: sqlName });
    const { statements, refusals, notes } = planned;
    if (options.check === true)
      return reportMissing([...refusals, ...statements.map((statement) => `missing: ${statement}`)]);
    if (refusals.length > 0) throw new InputError(`${refusals.join('\n')}\nNothing was written.`);
    for (const note of notes) output.error(`Note: ${note}`);
    if (statements.length === 0) return { lines: ['The migrations match the models: nothing to do.'] };
    const { tables: changed } = planned;
    const next = nextMigration(migrations, options.name, { sql: diffSql(statements), tables: changed });
    if (options.dryRun === true) return { lines: [next.up.trimEnd()] };
    const { migrationsDirectory, projectDirectory } = projectFolders(config);
    const path = join(migrationsDirectory, next.file);
    makeFiles(new Map([[path, next.up]]));
    return { lines: [`${relative(projectDirectory, path)} written: read it, then run fw-gen generate.`] };
  },
});

/** For pipelines: the missing changes, without writing them. */
function reportMissing(lines: readonly string[]): Report {
  return lines.length === 0
    ? { lines: ['The migrations match the models.'] }
    : {
        errors: [...lines, 'The models need a migration. Run `fw-gen migrate diff`, then `fw-gen generate`.'],
        isDrift: true,
      };
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
