import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Diagnostic, formatDiagnostic } from '../generator/diagnostics.js';
import {
  type GenerateOptions,
  type GenerateResult,
  generate,
  type Phase,
  type TracedText,
} from '../generator/generate.js';
import { LostResultError, RunMemory } from '../generator/watch.js';
import { CachedRun, optionsFrom } from './cached-run.js';
import type { CommandContext } from './command-context.js';
import { EXIT, type ExitCode } from './exit.js';
import type { GenerateFlags } from './generate-flags.js';
import type { LoadedGenerator } from './load-generator.js';
import { reportGithub, reportJson, reportSarif } from './report/machine-reports.js';
import type { Format, ReportedChange, ReportedProblem, ReportOptions, RunReport } from './report/report.js';
import { explainStale } from './report/stale-file.js';
import { reportText } from './report/text-report.js';
import { type Recollection, recollect } from './run-cache.js';

/** Results that are available before a run. */
export interface Knowledge {
  /** Results of earlier runs of this process. They take precedence over the cache. */
  readonly memory?: RunMemory | undefined;
  /** The record of a run of another process. Default: read from disk. */
  readonly before?: Recollection | undefined;
  /** Options from the configuration. Default: the configuration is read. */
  readonly options?: GenerateOptions | undefined;
  /** Receives the result before it is reported. */
  readonly onResult?: (result: GenerateResult) => void;
  /** Whether a watcher reports a run that changed nothing. Default: false. */
  readonly reportsUnchanged?: boolean;
  /** Called before a run reads much of the project. */
  readonly onWhole?: () => void;
}

/** From this number of changed files on, preparing the process for a long run pays off. */
const MANY = 50;

/** Runs the generator once, from reading the configuration to the report. */
export async function generateOnce(
  flags: GenerateFlags,
  context: Pick<CommandContext, 'output' | 'version'>,
  knowledge: Knowledge = {},
): Promise<ExitCode> {
  const started = performance.now();
  const clock = new PhaseClock(context.output.progress);
  const run = await runGenerator(flags, clock, knowledge);
  if (run.result !== undefined) knowledge.onResult?.(run.result);
  clock.end();
  const report = reportOf(flags, run, performance.now() - started);
  const isSilent = knowledge.memory !== undefined && knowledge.reportsUnchanged !== true;
  if (isSilent && isQuietRun(report)) return report.exitCode;
  const timed = flags.timing === true ? { ...report, timing: clock.phases } : report;
  REPORTERS[flags.format](timed, {
    output: context.output,
    quiet: flags.quiet === true,
    version: context.version,
    sourceText: (file) => readSource(run.projectDirectory, file),
  });
  hintAtMigration(run, context);
  warnOfOpenRoutes(run, context);
  return report.exitCode;
}

/** The files are up to date, but the next start of the application would fail because of a missing column. */
function hintAtMigration({ forgotten = [] }: Run, { output }: Pick<CommandContext, 'output'>): void {
  if (forgotten.length === 0) return;
  output.error(
    `Hint: no migration mentions ${forgotten.join(', ')}. Run \`fw-gen migrate diff\`; ` +
      '`fw-gen migrate diff --check` finds every difference.',
  );
}

/** An earlier run has reported the routes in unchanged files, unless this run checks. */
function openRoutes({ check }: GenerateFlags, result: GenerateResult): readonly Diagnostic[] {
  return check === true ? result.openRoutes() : result.newOpenRoutes();
}

/** A missing rule may be a mistake, or the route may be meant for every caller. */
function warnOfOpenRoutes({ open = [] }: Run, { output }: Pick<CommandContext, 'output'>): void {
  for (const each of open.slice(0, MOST_WARNINGS)) output.error(`Warning: ${formatDiagnostic(each)}`);
  const others = open.length - MOST_WARNINGS;
  if (others <= 0) return;
  output.error(`Warning: ${others} more. \`fw-gen generate --check --strict\` lists all.`);
}

/** Limits the output of a project without rules. */
const MOST_WARNINGS = 20;

/** The result of a run, or the problems that prevented it. */
interface Run {
  readonly projectDirectory: string;
  readonly problems: readonly ReportedProblem[];
  readonly result?: GenerateResult;
  readonly traced?: ReadonlyMap<string, TracedText> | undefined;
  /** Columns that no migration mentions, if the run reports them. */
  readonly forgotten?: readonly string[];
  /** Routes without a rule, if the run reports them. */
  readonly open?: readonly Diagnostic[];
}

async function runGenerator(
  flags: GenerateFlags,
  clock: PhaseClock,
  { memory, before: given, options: known, onWhole }: Knowledge,
): Promise<Run> {
  const projectDirectory = dirname(resolve(flags.config));
  clock.begin('cache');
  const startedAt = Date.now();
  const isCached = flags.cache && memory === undefined;
  const before = isCached ? (given ?? recollect(flags.config)) : undefined;
  clock.begin('config');
  const loaded =
    known === undefined
      ? ((usesCache(flags) ? knownOptions(before) : undefined) ?? (await load(flags.config)))
      : { options: known };
  if ('problems' in loaded) return { projectDirectory, problems: loaded.problems };
  const { options } = loaded;
  clock.begin('cache');
  const cached = isCached
    ? new CachedRun({ configFile: flags.config, options, startedAt, before })
    : undefined;
  const read =
    memory ??
    (usesCache(flags) ? cached?.memory : undefined) ??
    new RunMemory({ isKept: cached !== undefined });
  if (read.read.staleFiles >= MANY || read.read.results.size === 0) onWhole?.();
  const run = await generateWith(read, flags, options, (phase) => clock.begin(phase));
  const { result } = run;
  if (flags.verifyCache === true && cached !== undefined) verify(cached, run.memory, result);
  clock.begin('cache');
  const isWritten = flags.check !== true && flags.dryRun !== true;
  // A run that wrote nothing may have found an outdated manifest.
  if (isWritten || (isUnchanged(result) && cached?.hasManifest(result) === true)) {
    cached?.remember(result, run.memory);
  }
  return { projectDirectory, problems: result.diagnostics, ...run };
}

interface RunWithMemory {
  readonly result: GenerateResult;
  /** The declaration behind each line, if the report explains stale files. */
  readonly traced: ReadonlyMap<string, TracedText> | undefined;
  readonly forgotten: readonly string[];
  readonly open: readonly Diagnostic[];
  /** The memory that the run used. A new one if the given one was damaged. */
  readonly memory: RunMemory;
}

async function generateWith(
  memory: RunMemory,
  flags: GenerateFlags,
  options: GenerateOptions,
  onPhase: (phase: Phase) => void,
): Promise<RunWithMemory> {
  try {
    const result = await generate({
      ...options,
      dryRun: flags.check === true || flags.dryRun === true,
      force: flags.force === true,
      clean: flags.clean === true,
      strict: flags.strict === true,
      memory,
      onPhase,
    });
    return {
      result,
      memory,
      // Before this run stores anything, because results of earlier runs are then no longer readable.
      traced: flags.check === true && !isUnchanged(result) ? result.trace() : undefined,
      forgotten: showsHints(flags) && isRight(result) ? result.forgottenColumns() : [],
      open: showsWarnings(flags) ? openRoutes(flags, result) : [],
    };
  } catch (error) {
    if (!(error instanceof LostResultError)) throw error;
    return generateWith(new RunMemory(), flags, options, onPhase);
  }
}

/** Returns the options of the earlier run if the configuration is unchanged. */
function knownOptions(before: Recollection | undefined): { readonly options: GenerateOptions } | undefined {
  if (before === undefined || before.isReconfigured) return undefined;
  const { folder, record } = before;
  return { options: optionsFrom(folder, record.settings) };
}

/** Reads the configuration. Loads the YAML parser on demand. */
async function load(configFile: string): Promise<LoadedGenerator> {
  const { loadGenerator } = await import('./load-generator.js');
  return loadGenerator(configFile);
}

/** Whether a run uses the cache. `--verify-cache`, `--clean` and `--force` do not. */
function usesCache({ clean, force, verifyCache }: GenerateFlags): boolean {
  return clean !== true && force !== true && verifyCache !== true;
}

/** Compares the cache with a run without it. @throws an error if they differ */
function verify(cached: CachedRun, fresh: RunMemory, result: GenerateResult): void {
  const lies = cached.memory.contradictions(fresh);
  if (lies.length > 0) throw new Error(`The cache differs from a fresh run for ${lies.join(', ')}`);
  if (cached.isUpToDate && cached.memory.read.outline !== fresh.read.outline)
    throw new Error('The cached outline of the project differs from a fresh run');
  if (cached.isUpToDate && !(isUnchanged(result) && result.diagnostics.length === 0))
    throw new Error('The cache reports no change, but a fresh run finds changes');
}

/** Hints are shown only if there are neither stale files nor mistakes, which are more urgent. */
function isRight(result: GenerateResult): boolean {
  return result.diagnostics.length === 0 && isUnchanged(result);
}

function showsHints(flags: GenerateFlags): boolean {
  return flags.check === true && showsWarnings(flags);
}

function showsWarnings({ format, quiet }: GenerateFlags): boolean {
  return format === 'text' && quiet !== true;
}

function isUnchanged({ changes }: GenerateResult): boolean {
  return changes.every(({ kind }) => kind === 'unchanged');
}

/** A watcher does not report a run without changes or problems. */
function isQuietRun({ problems, changes }: RunReport): boolean {
  return problems.length === 0 && changes.every(({ kind }) => kind === 'unchanged');
}

function reportOf(flags: GenerateFlags, { problems, result, traced }: Run, elapsedMs: number): RunReport {
  const mode = flags.check === true ? 'check' : flags.dryRun === true ? 'dry-run' : 'generate';
  const all = result?.changes ?? [];
  const isStale = mode === 'check' && all.some(({ kind }) => kind !== 'unchanged');
  const changes = all.map((change): ReportedChange => {
    const { path, kind } = change;
    const isExplained = traced !== undefined && kind !== 'unchanged';
    return { path, kind, ...(isExplained ? explainStale(change, traced.get(path)) : {}) };
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

/** Measures phases and shows the current one. */
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
