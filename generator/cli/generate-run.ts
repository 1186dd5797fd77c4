import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Diagnostic, formatDiagnostic } from '../diagnostics.js';
import {
  type GenerateOptions,
  type GenerateResult,
  generate,
  type Phase,
  type TracedText,
} from '../generate.js';
import { LostResultError, RunMemory } from '../watch.js';
import { CachedRun, optionsFrom } from './cached-run.js';
import type { CommandContext } from './command-context.js';
import { EXIT, type ExitCode } from './exit.js';
import type { GenerateFlags } from './generate-flags.js';
import type { LoadedGenerator } from './load-generator.js';
import { driftCause } from './report/drift-cause.js';
import { reportGithub, reportJson, reportSarif } from './report/machine-reports.js';
import type { Format, ReportedChange, ReportedProblem, ReportOptions, RunReport } from './report/report.js';
import { reportText } from './report/text-report.js';
import { unifiedDiff } from './report/unified-diff.js';
import { type Recollection, recollect } from './run-cache.js';

/** What is known before a run. */
export interface Knowledge {
  /** Of earlier runs of this process, which is more than any cache can know. */
  readonly memory?: RunMemory | undefined;
  /** The record of a run of another process; read from disk if absent. */
  readonly before?: Recollection | undefined;
  /** What the configuration says; it is read if this is absent. */
  readonly options?: GenerateOptions | undefined;
  /** Receives the result before it is reported. */
  readonly onResult?: (result: GenerateResult) => void;
  /** Report a run of a watcher that changed nothing as well. Default false. */
  readonly reportsUnchanged?: boolean;
  /** Called when a run has to read or emit much of the project. May be called twice. */
  readonly onWhole?: () => void;
}

/** Reading this many files takes longer than preparing for it. */
const MANY = 50;

/** One run from reading the configuration to the report. */
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

/** Nothing is stale for it, and yet the next start would find that a column is missing. */
function hintAtMigration({ forgotten = [] }: Run, { output }: Pick<CommandContext, 'output'>): void {
  if (forgotten.length === 0) return;
  output.error(
    `Hint: no migration mentions ${forgotten.join(', ')}. Run \`fw-gen migrate diff\`; ` +
      '`fw-gen migrate diff --check` finds every difference.',
  );
}

/** Of files that have not changed since, an earlier run has reported them. */
function openRoutes({ check }: GenerateFlags, result: GenerateResult): readonly Diagnostic[] {
  return check === true ? result.openRoutes() : result.newOpenRoutes();
}

/** A route that was forgotten looks like one that is meant to be open. */
function warnOfOpenRoutes({ open = [] }: Run, { output }: Pick<CommandContext, 'output'>): void {
  for (const each of open.slice(0, MOST_WARNINGS)) output.error(`Warning: ${formatDiagnostic(each)}`);
  const others = open.length - MOST_WARNINGS;
  if (others <= 0) return;
  const subject = others === 1 ? 'route has' : 'routes have';
  output.error(`Warning: ${others} more ${subject} no rule. \`fw-gen generate --check --strict\` lists all.`);
}

/** A project that has no rules at all would fill the terminal. */
const MOST_WARNINGS = 20;

/** What a run gave, or why there was none. */
interface Run {
  readonly projectDirectory: string;
  readonly problems: readonly ReportedProblem[];
  readonly result?: GenerateResult;
  readonly traced?: ReadonlyMap<string, TracedText> | undefined;
  /** Columns that no migration mentions, if the user is to know. */
  readonly forgotten?: readonly string[];
  /** Routes without a rule, if the user is to know. */
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
  const run = await generateWith(read, flags, options, (phase) => {
    clock.begin(phase);
    if (phase === 'check') onWhole?.();
  });
  const { result } = run;
  if (flags.verifyCache === true && cached !== undefined) verify(cached, run.memory, result);
  clock.begin('cache');
  const isWritten = flags.check !== true && flags.dryRun !== true;
  // A run that wrote nothing may have found the manifest wrong as well.
  if (isWritten || (isUnchanged(result) && cached?.hasManifest(result) === true)) {
    cached?.remember(result, run.memory);
  }
  return { projectDirectory, problems: result.diagnostics, ...run };
}

interface RunWithMemory {
  readonly result: GenerateResult;
  /** The declaration behind each line, if a stale file is to be explained. */
  readonly traced: ReadonlyMap<string, TracedText> | undefined;
  readonly forgotten: readonly string[];
  readonly open: readonly Diagnostic[];
  /** Of what was read: another one than was given if that turned out to be broken. */
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
      // What earlier runs have kept can be asked for until this run keeps something itself.
      traced: flags.check === true && !isUnchanged(result) ? result.trace() : undefined,
      forgotten: showsHints(flags) && isRight(result) ? result.forgottenColumns() : [],
      open: showsWarnings(flags) ? openRoutes(flags, result) : [],
    };
  } catch (error) {
    if (!(error instanceof LostResultError)) throw error;
    return generateWith(new RunMemory(), flags, options, onPhase);
  }
}

/** What the configuration says, if it says what it said to the run before. */
function knownOptions(before: Recollection | undefined): { readonly options: GenerateOptions } | undefined {
  if (before === undefined || before.isReconfigured) return undefined;
  const { folder, record } = before;
  return { options: optionsFrom(folder, record.settings) };
}

/** Reads the configuration. What understands YAML is loaded only now. */
async function load(configFile: string): Promise<LoadedGenerator> {
  const { loadGenerator } = await import('./load-generator.js');
  return loadGenerator(configFile);
}

/** Whether a run uses the cache. `--verify-cache`, `--clean` and `--force` do not. */
function usesCache({ clean, force, verifyCache }: GenerateFlags): boolean {
  return clean !== true && force !== true && verifyCache !== true;
}

/** Compares what the cache holds with what a run without it found. @throws an error if it lies */
function verify(cached: CachedRun, fresh: RunMemory, result: GenerateResult): void {
  const lies = cached.memory.contradictions(fresh);
  if (lies.length > 0) throw new Error(`The cache differs from a fresh run for ${lies.join(', ')}`);
  if (cached.isUpToDate && cached.memory.read.outline !== fresh.read.outline)
    throw new Error('The cached outline of the project differs from a fresh run');
  if (cached.isUpToDate && !(isUnchanged(result) && result.diagnostics.length === 0))
    throw new Error('The cache reports no change, but a fresh run finds changes');
}

/** Stale files and mistakes come first: without them, the hint is all there is to say. */
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

/** While watching, a run that finds everything right says nothing. */
function isQuietRun({ problems, changes }: RunReport): boolean {
  return problems.length === 0 && changes.every(({ kind }) => kind === 'unchanged');
}

function reportOf(flags: GenerateFlags, { problems, result, traced }: Run, elapsedMs: number): RunReport {
  const mode = flags.check === true ? 'check' : flags.dryRun === true ? 'dry-run' : 'generate';
  const all = result?.changes ?? [];
  const isStale = mode === 'check' && all.some(({ kind }) => kind !== 'unchanged');
  const changes = all.map((change): ReportedChange => {
    const { path, kind, before, text } = change;
    if (traced === undefined || kind === 'unchanged') return { path, kind };
    return { path, kind, cause: driftCause(change, traced.get(path)), diff: unifiedDiff(path, before, text) };
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
