import type { MigrationText, ModelTable } from '../generator/migrations.js';
import type { FwConfig } from '../runtime/config/index.js';
import type { Finding, FindingLevel } from '../runtime/operations.js';
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
import { EXIT, type ExitCode, type Output } from './exit.js';
import { counted } from './terminal-text.js';
import { textTable } from './text-table.js';

interface DoctorOptions {
  readonly config: string;
  readonly format: 'table' | 'json';
  readonly parallel: number;
}

const MARKS: Readonly<Record<FindingLevel, string>> = { ok: 'ok', warning: 'WARNING', fault: 'FAULT' };

/** Adds `fw-gen doctor`. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  withParallel(withFormat(withConfig(program.command('doctor'))))
    .description(
      'Checks configuration, connections, servers, clocks, rights, residency, replicas, migrations, drift and connection budget.',
    )
    .action((options: DoctorOptions) => context.run(() => doctor(options, context.output)));
}

async function doctor({ config: file, format, parallel }: DoctorOptions, output: Output): Promise<ExitCode> {
  const config = readConfig(file);
  const application = await readApplication(config);
  const { examine, withDatabases } = await import('../runtime/operations.js');
  const findings = await withDatabases(config.sharding, output.error, (databases) =>
    examine(databases, { topology: config.sharding, application, atOnce: parallel }),
  );
  if (format === 'json') output.info(JSON.stringify({ findings }, null, 2));
  else report(findings, output);
  return findings.some(({ level }) => level === 'fault') ? EXIT.drift : EXIT.success;
}

/** Without `fw.generator`, models and migrations are unknown; the servers are still checked. */
async function readApplication(
  config: FwConfig,
): Promise<
  { readonly migrations: readonly MigrationText[]; readonly tables: readonly ModelTable[] } | undefined
> {
  if (config.generator === undefined) return undefined;
  const { readModelTables } = await import('../generator/migrations.js');
  const { tables, diagnostics } = await readModelTables(projectFolders(config));
  requireNone(diagnostics);
  return { migrations: await readMigrations(config), tables };
}

function report(findings: readonly Finding[], output: Output): void {
  const rows = findings.map(({ subject, check, level, found, advice }) => [
    subject,
    check,
    MARKS[level],
    advice === '' ? found : `${found}. ${advice}`,
  ]);
  output.info(textTable(['WHERE', 'CHECK', 'RESULT', 'FINDING AND ADVICE'], rows));
  const count = (level: FindingLevel): number => findings.filter((finding) => finding.level === level).length;
  const [faults, warnings] = [counted(count('fault'), 'fault'), counted(count('warning'), 'warning')];
  output.info(`\n${faults}, ${warnings}, ${count('ok')} ok`);
}
