import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { ConfigurationError, loadConfig } from '../../runtime/config/index.js';
import { type GenerateOptions, type GenerateResult, generate, type Phase } from '../generate.js';
import { RunMemory } from '../watch.js';
import { CachedRun } from './cached-run.js';
import { type CommandContext, choice, projectFolders, withConfig } from './command-context.js';
import { EXIT, type ExitCode } from './exit.js';
import { examples } from './help.js';
import { driftCause } from './report/drift-cause.js';
import { reportGithub, reportJson, reportSarif } from './report/machine-reports.js';
import {
  FORMATS,
  type Format,
  type ReportedChange,
  type ReportedProblem,
  type ReportOptions,
  type RunReport,
} from './report/report.js';
import { reportText } from './report/text-report.js';
import { unifiedDiff } from './report/unified-diff.js';

/** Options of `fw-gen generate`, as parsed. */
export interface GenerateFlags {
  readonly config: string;
  readonly check?: boolean;
  readonly dryRun?: boolean;
  readonly watch?: boolean;
  readonly clean?: boolean;
  readonly force?: boolean;
  readonly timing?: boolean;
  readonly quiet?: boolean;
  readonly cache: boolean;
  readonly verifyCache?: boolean;
  readonly format: Format;
}

/** Adds `fw-gen generate`. */
export function addGenerateCommand(program: Command, context: CommandContext): void {
  withConfig(program.command('generate'))
    .description('Writes the files that changed; nothing while there is a mistake in the sources.')
    .option('--check', 'write nothing; show what is stale and why, and end with 1 if anything is')
    .option('--dry-run', 'write nothing; list what would be written')
    .option('--watch', 'go on, and generate again whenever sources, configuration or templates change')
    .option('--clean', 'write every file anew, whatever is there')
    .option('--force', 'replace files that were edited by hand, or that fw-gen did not write')
    .option('--no-cache', 'look at every source, whatever the last run left behind')
    .option('--verify-cache', 'prove that the cache gives what a run without it gives')
    .option('--timing', 'show how long each phase took')
    .option('--quiet', 'print mistakes and stale files only')
    .option('--format <format>', FORMATS.join(', '), choice(FORMATS), 'text')
    .addHelpText(
      'after',
      examples(
        ['fw-gen generate', 'reads fw.config.yaml in the current folder'],
        ['fw-gen generate --config my.yaml', 'reads another configuration'],
        ['fw-gen generate --check --format github', 'annotates a pull request with what is stale'],
        ['fw-gen generate --watch', 'keeps the output right while you work'],
      ),
    )
    .action((flags: GenerateFlags) => context.run(() => generateCommand(flags, context)));
}

async function generateCommand(flags: GenerateFlags, context: CommandContext): Promise<ExitCode> {
  if (flags.watch !== true) return generateOnce(flags, context);
  const { watchCommand } = await import('./watch-command.js');
  return watchCommand(flags, context);
}

/** One run from reading the configuration to the report. */
export async function generateOnce(
  flags: GenerateFlags,
  context: CommandContext,
  memory?: RunMemory,
): Promise<ExitCode> {
  const started = performance.now();
  const clock = new PhaseClock(context.output.progress);
  const run = await runGenerator(flags, clock, memory);
  clock.end();
  const report = reportOf(flags, run, performance.now() - started);
  if (memory !== undefined && isQuietRun(report)) return report.exitCode;
  const timed = flags.timing === true ? { ...report, timing: clock.phases } : report;
  REPORTERS[flags.format](timed, {
    output: context.output,
    quiet: flags.quiet === true,
    version: context.version,
    sourceText: (file) => readSource(run.projectDirectory, file),
  });
  return report.exitCode;
}

/** What a run gave, or why there was none. */
interface Run {
  readonly projectDirectory: string;
  readonly problems: readonly ReportedProblem[];
  readonly result?: GenerateResult;
}

async function runGenerator(
  flags: GenerateFlags,
  clock: PhaseClock,
  memory: RunMemory | undefined,
): Promise<Run> {
  const projectDirectory = dirname(resolve(flags.config));
  clock.begin('config');
  const startedAt = Date.now();
  const loaded = loadGenerator(flags.config);
  if ('problems' in loaded) return { projectDirectory, problems: loaded.problems };
  const { options } = loaded;
  clock.begin('cache');
  // What watches knows more than any cache, and must be quick.
  const isCached = flags.cache && memory === undefined;
  const cached = isCached ? new CachedRun({ configFile: flags.config, options, startedAt }) : undefined;
  const fresh = memory ?? (usesCache(flags) ? cached?.memory : undefined) ?? new RunMemory();
  const result = await generate({
    ...options,
    dryRun: flags.check === true || flags.dryRun === true,
    force: flags.force === true,
    clean: flags.clean === true,
    memory: fresh,
    onPhase: (phase) => clock.begin(phase),
  });
  if (flags.verifyCache === true && cached !== undefined) verify(cached, fresh, result);
  clock.begin('cache');
  const isWritten = flags.check !== true && flags.dryRun !== true;
  if (isWritten || isUnchanged(result)) cached?.remember(result, fresh);
  return { projectDirectory, problems: result.diagnostics, result };
}

/** Whether a run takes over what the cache holds: one that proves it, or writes all anew, looks for itself. */
function usesCache({ clean, force, verifyCache }: GenerateFlags): boolean {
  return clean !== true && force !== true && verifyCache !== true;
}

/** Compares what the cache holds with what a run without it found. @throws an error if it lies */
function verify(cached: CachedRun, fresh: RunMemory, result: GenerateResult): void {
  const lies = cached.memory.contradictions(fresh);
  if (lies.length > 0)
    throw new Error(`The cache holds something else than a run finds for ${lies.join(', ')}`);
  if (cached.isUpToDate && !(isUnchanged(result) && result.diagnostics.length === 0))
    throw new Error('The cache says that nothing changed, a run finds changes');
}

function isUnchanged({ changes }: GenerateResult): boolean {
  return changes.every(({ kind }) => kind === 'unchanged');
}

/** What the configuration says to the generator, or what is wrong with it. */
export function loadGenerator(
  file: string,
): { readonly options: GenerateOptions } | { readonly problems: readonly ReportedProblem[] } {
  try {
    const config = loadConfig(file);
    const { title, version, templatesDirectory } = config.generator ?? {};
    return {
      options: {
        ...projectFolders(config),
        ...(title === undefined ? {} : { title }),
        ...(version === undefined ? {} : { version }),
        ...(templatesDirectory === undefined ? {} : { templatesDirectory }),
      },
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return {
      problems: error.problems.map(({ line, column, path, message, hint }) => ({
        code: 'FWCONFIG' as const,
        location: {
          file,
          ...(line === undefined ? {} : { line }),
          ...(column === undefined ? {} : { column }),
        },
        message: path === '' ? message : `${path}: ${message}`,
        hint: hint ?? 'See docs/configuration.md for every key.',
      })),
    };
  }
}

/** While watching, a run that finds everything right says nothing. */
function isQuietRun({ problems, changes }: RunReport): boolean {
  return problems.length === 0 && changes.every(({ kind }) => kind === 'unchanged');
}

function reportOf(flags: GenerateFlags, { problems, result }: Run, elapsedMs: number): RunReport {
  const mode = flags.check === true ? 'check' : flags.dryRun === true ? 'dry-run' : 'generate';
  const all = result?.changes ?? [];
  const isStale = mode === 'check' && all.some(({ kind }) => kind !== 'unchanged');
  const trace = isStale ? result?.trace() : undefined;
  const changes = all.map((change): ReportedChange => {
    const { path, kind, before, text } = change;
    if (trace === undefined || kind === 'unchanged') return { path, kind };
    return { path, kind, cause: driftCause(change, trace.get(path)), diff: unifiedDiff(path, before, text) };
  });
  const exitCode = problems.length > 0 ? EXIT.inputError : isStale ? EXIT.drift : EXIT.success;
  return { mode, exitCode, problems, changes, elapsedMs };
}

const REPORTERS: Readonly<Record<Format, (report: RunReport, options: ReportOptions) => void>> = {
  text: reportText,
  json: reportJson,
  github: reportGithub,
  sarif: reportSarif,
};

function readSource(projectDirectory: string, file: string): string | undefined {
  try {
    return readFileSync(join(projectDirectory, file), 'utf8').replace(/^\uFEFF/, '');
  } catch {
    return undefined;
  }
}

/** Measures phases and shows the present one. */
class PhaseClock {
  readonly #progress: ((text: string) => void) | undefined;
  readonly #phases: Record<string, number> = {};
  #current: { readonly phase: string; readonly since: number } | undefined;

  constructor(progress: ((text: string) => void) | undefined) {
    this.#progress = progress;
  }

  begin(phase: Phase | 'config' | 'cache'): void {
    this.#close();
    this.#current = { phase, since: performance.now() };
    this.#progress?.(`${phase} ...`);
  }

  end(): void {
    this.#close();
    this.#progress?.('');
  }

  /** Milliseconds by phase. */
  get phases(): Readonly<Record<string, number>> {
    return this.#phases;
  }

  #close(): void {
    if (this.#current === undefined) return;
    const { phase, since } = this.#current;
    this.#phases[phase] = (this.#phases[phase] ?? 0) + performance.now() - since;
    this.#current = undefined;
  }
}
