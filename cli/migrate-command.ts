import type { MigrationText } from '../generator/migrations.js';
import type { FwConfig } from '../runtime/config/index.js';
import type { MigrationStep, ShardDrift, ShardMigrationStatus } from '../runtime/operations.js';
import {
  type CommandContext,
  projectFolders,
  readConfig,
  readMigrations,
  requireNone,
  withConfig,
  withFormat,
  withParallel,
} from './command-context.js';
import type { Command } from './commander.js';
import { addDiffCommand } from './diff-command.js';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { addRenameCommand } from './rename-command.js';
import { textTable } from './text-table.js';

interface MigrateOptions {
  readonly config: string;
  readonly format: 'table' | 'json';
  readonly parallel: number;
}

/** Adds `fw-gen migrate` with its commands. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  const migrate = program.command('migrate').description('Migrates all shards, or shows their state.');
  const add = (name: string, description: string): Command =>
    withParallel(withFormat(withConfig(migrate.command(name).description(description))));
  add(
    'up',
    'Applies the pending migrations on every shard. Run it again after a failure: it continues where it stopped.',
  )
    .option('--dry-run', 'only show the pending migrations')
    .action((options: MigrateOptions & { readonly dryRun?: boolean }) =>
      context.run(() => (options.dryRun === true ? showPlan : applyAll)(options, context.output)),
    );
  add('status', 'Shows the state of every shard.').action((options: MigrateOptions) =>
    context.run(() => showStatus(options, context.output)),
  );
  add('plan', 'Shows the SQL that `up` would run. Changes nothing.').action((options: MigrateOptions) =>
    context.run(() => showPlan(options, context.output)),
  );
  add(
    'verify',
    'Checks for pending migrations, and for drift between shards and between models and tables.',
  ).action((options: MigrateOptions) => context.run(() => verify(options, context.output)));
  addDiffCommand(migrate, context);
  addRenameCommand(migrate, context);
}

interface Look {
  readonly config: FwConfig;
  readonly migrations: readonly MigrationText[];
  readonly status: readonly ShardMigrationStatus[];
}

async function look({ config: file, parallel }: MigrateOptions, output: Output): Promise<Look> {
  const config = readConfig(file);
  const migrations = await readMigrations(config);
  const { migrationStatus, withDatabases } = await import('../runtime/operations.js');
  const status = await withDatabases(config.sharding, output.error, (databases) =>
    migrationStatus(databases, { migrations, atOnce: parallel }),
  );
  return { config, migrations, status };
}

async function showStatus(options: MigrateOptions, output: Output): Promise<ExitCode> {
  const { status } = await look(options, output);
  if (options.format === 'json') output.info(JSON.stringify({ shards: status.map(statusJson) }, null, 2));
  else output.info(statusTable(status));
  return exitOf(status);
}

async function showPlan(options: MigrateOptions, output: Output): Promise<ExitCode> {
  const { status } = await look(options, output);
  if (options.format === 'json') {
    const shards = status.map((each) => ({ ...statusJson(each), pending: each.pending }));
    output.info(JSON.stringify({ shards }, null, 2));
    return exitOf(status);
  }
  output.info(statusTable(status));
  const pending = new Map(
    status.flatMap((each) => each.pending).map((each) => [`${each.set}/${each.name}`, each]),
  );
  for (const { set, name, up } of pending.values()) {
    const shards = status.filter((each) =>
      each.pending.some((other) => other.set === set && other.name === name),
    );
    output.info(`\n-- ${name} (${set}), on ${shards.length} of ${status.length} shards\n${up.trim()}`);
  }
  return exitOf(status);
}

async function applyAll(
  { config: file, parallel, format }: MigrateOptions,
  output: Output,
): Promise<ExitCode> {
  const config = readConfig(file);
  const migrations = await readMigrations(config);
  const { migrateShards, withDatabases } = await import('../runtime/operations.js');
  return withDatabases(config.sharding, output.error, async (databases) => {
    const progress = progressLines(databases.shards().length, output);
    const outcomes = await migrateShards(databases, { migrations, atOnce: parallel, progress });
    const rows = outcomes.map((outcome) => ({
      shard: outcome.shard.toString(),
      name: databases.memberConfig(outcome.shard).name,
      applied: outcome.ok ? outcome.value.applied : [],
      error: outcome.ok ? undefined : messageOf(outcome.error),
    }));
    if (format === 'json') output.info(JSON.stringify({ shards: rows }, null, 2));
    else {
      const lines = rows.map(({ shard, name, applied, error }) => [
        shard,
        name,
        String(applied.length),
        error ?? 'done',
      ]);
      output.info(textTable(['SHARD', 'NAME', 'APPLIED', 'RESULT'], lines));
    }
    return outcomes.every(({ ok }) => ok) ? EXIT.success : EXIT.drift;
  });
}

async function verify(options: MigrateOptions, output: Output): Promise<ExitCode> {
  const config = readConfig(options.config);
  const { readModelTables } = await import('../generator/migrations.js');
  const { tables, diagnostics } = await readModelTables(projectFolders(config));
  requireNone(diagnostics);
  const { findDrift, withDatabases } = await import('../runtime/operations.js');
  const { status } = await look(options, output);
  const atOnce = options.parallel;
  const drifts = await withDatabases(config.sharding, output.error, (databases) =>
    findDrift(databases, { tables, atOnce }),
  );
  if (options.format === 'json') {
    const drift = drifts.map((each) => ({ ...each, shard: each.shard.toString() }));
    output.info(JSON.stringify({ shards: status.map(statusJson), drift }, null, 2));
  } else {
    output.info(statusTable(status));
    output.info(drifts.length === 0 ? '\nNo drift.' : `\n${drifts.flatMap(driftLines).join('\n')}`);
  }
  return drifts.length > 0 ? EXIT.drift : exitOf(status);
}

function driftLines({ shard, lacks, has, tables, failure }: ShardDrift): readonly string[] {
  return [
    ...(failure === undefined ? [] : [`${shard} could not be checked: ${failure}`]),
    ...lacks.map((line) => `${shard} lacks what most shards have: ${line}`),
    ...has.map((line) => `${shard} has what most shards lack: ${line}`),
    ...tables.map(({ message }) => `${shard} does not match the models: ${message}`),
  ];
}

function statusTable(status: readonly ShardMigrationStatus[]): string {
  const rows = status.map(({ shard, name, state, applied, pending, newer, problems }) => {
    const next = pending[0] === undefined ? '' : `next ${pending[0].name}`;
    const ahead = newer.length === 0 ? '' : `ahead by ${newer.length}`;
    const detail = [...problems, next, ahead].filter((part) => part !== '').join('; ');
    return [shard.toString(), name, state, String(applied), String(pending.length), detail];
  });
  return textTable(['SHARD', 'NAME', 'STATE', 'APPLIED', 'PENDING', 'DETAIL'], rows);
}

function statusJson({ shard, pending, ...rest }: ShardMigrationStatus): object {
  return { shard: shard.toString(), ...rest, pending: pending.map(({ name }) => name) };
}

function exitOf(status: readonly ShardMigrationStatus[]): ExitCode {
  return status.every(({ state }) => state === 'current') ? EXIT.success : EXIT.drift;
}

/** A line on standard error for each finished shard, so that standard output contains only the result. */
function progressLines(total: number, output: Output): (step: MigrationStep) => void {
  let ended = 0;
  return (step) => {
    if (step.kind === 'started') return;
    ended += 1;
    const result =
      step.kind === 'done' ? `${step.applied.length} applied` : `failed: ${messageOf(step.error)}`;
    output.error(`[${ended}/${total}] ${step.shard} ${result}, ${step.elapsedMs} ms`);
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
