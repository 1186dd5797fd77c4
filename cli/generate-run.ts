import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Diagnostic, formatDiagnostic } from '../generator/diagnostics.js';
import {
  type GenerateOptions,
  type GenerateResult,
  generate,
  MANIFEST_NAME,
  type Phase,
  type TracedText,
} from '../generator/generate.js';
import { relativeTo } from '../generator/schema/paths.js';
import type { SourceFiles } from '../generator/watch.js';
import type { CommandContext } from './command.js';
import { EXIT, type ExitCode } from './exit.js';
import type { GenerateFlags } from './generate-flags.js';
import type { LoadedGenerator } from './load-generator.js';
import { reportGithub, reportJson, reportSarif } from './report/machine-reports.js';
import type { Format, ReportedChange, ReportedProblem, ReportOptions, RunReport } from './report/report.js';
import { explainStale } from './report/stale-file.js';
import { reportText, warningLines } from './report/text-report.js';
import { type FinishedRun, writeStamp } from './stamp.js';

/** What a watcher knows before a run, and wants to know after it. */
export interface Knowledge {
  /** Sources that an earlier run of this process has read, without changed files. */
  readonly sources?: SourceFiles | undefined;
  /** Options from the configuration. Default: the configuration is read. */
  readonly options?: GenerateOptions | undefined;
  /** Receives the result before it is reported. */
  readonly onResult?: (result: GenerateResult) => void;
  /** Whether to report a run that changed nothing. Default: true. */
  readonly reportsUnchanged?: boolean;
  /** Warnings that were shown. Default: none. */
  readonly warnings?: Set<string>;
}

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
  const report = reportOf(
    flags,
    { ...run, warnings: unseen(run.warnings, knowledge) },
    performance.now() - started,
  );
  if (knowledge.reportsUnchanged === false && isQuietRun(report)) return report.exitCode;
  const timed = flags.timing === true ? { ...report, timing: clock.phases } : report;
  REPORTERS[flags.format](timed, {
    output: context.output,
    quiet: flags.quiet === true,
    version: context.version,
    sourceText: (file) => readSource(run.projectDirectory, file),
  });
  hintAtMigration(run, context);
  return report.exitCode;
}

/** The warnings that this process has not shown. */
function unseen(
  warnings: readonly Diagnostic[] = [],
  { warnings: shown = new Set() }: Knowledge,
): readonly Diagnostic[] {
  const found = warnings.filter((each) => !shown.has(formatDiagnostic(each)));
  for (const each of found) shown.add(formatDiagnostic(each));
  return found;
}

/** The files are up to date, but the next start of the application would fail because of a missing column. */
function hintAtMigration({ forgotten = [] }: Run, { output }: Pick<CommandContext, 'output'>): void {
  if (forgotten.length === 0) return;
  output.error(
    `Hint: no migration mentions ${forgotten.join(', ')}. Run \`fw-gen migrate diff\`; ` +
      '`fw-gen migrate diff --check` finds every difference.',
  );
}

/** The result of a run, or the problems that prevented it. */
interface Run {
  readonly projectDirectory: string;
  readonly problems: readonly ReportedProblem[];
  readonly result?: GenerateResult;
  readonly traced?: ReadonlyMap<string, TracedText> | undefined;
  /** Columns that no migration mentions, if the run reports them. */
  readonly forgotten?: readonly string[];
  readonly warnings?: readonly Diagnostic[];
}

async function runGenerator(
  flags: GenerateFlags,
  clock: PhaseClock,
  { sources, options: known }: Knowledge,
): Promise<Run> {
  const projectDirectory = dirname(resolve(flags.config));
  const startedAt = Date.now();
  clock.begin('config');
  const loaded = known === undefined ? await load(flags.config) : { options: known };
  if ('problems' in loaded) return { projectDirectory, problems: loaded.problems };
  const { options } = loaded;
  const result = await generate({
    ...options,
    dryRun: flags.check === true || flags.dryRun === true,
    force: flags.force === true,
    clean: flags.clean === true,
    strict: flags.strict === true,
    ...(sources === undefined ? {} : { sources }),
    onPhase: (phase) => clock.begin(phase),
  });
  const warnings = result.warnings();
  const isWritten = flags.check !== true && flags.dryRun !== true;
  if (result.diagnostics.length === 0 && (isWritten || isUnchanged(result)))
    writeStamp({
      configFile: flags.config,
      startedAt,
      ...filesOf(result, options),
      warnings: warningLines(warnings),
    });
  return {
    projectDirectory,
    problems: result.diagnostics,
    result,
    traced: flags.check === true && !isUnchanged(result) ? result.trace() : undefined,
    forgotten: showsHints(flags) && isRight(result) ? result.forgottenColumns() : [],
    warnings,
  };
}

/** The files of a run, for its stamp. */
function filesOf(
  { changes, inputs }: GenerateResult,
  { projectDirectory, outputDirectory }: GenerateOptions,
): Pick<FinishedRun, 'inputs' | 'outputs' | 'others'> {
  const outputs = changes.filter(({ kind }) => kind !== 'remove').map(({ path }) => path);
  const manifest = relativeTo(projectDirectory, join(outputDirectory, MANIFEST_NAME));
  return { inputs, outputs, others: [manifest] };
}

/** Reads the configuration. Loads the YAML parser on demand. */
async function load(configFile: string): Promise<LoadedGenerator> {
  const { loadGenerator } = await import('./load-generator.js');
  return loadGenerator(configFile);
}

/** Hints are shown only if there are neither stale files nor mistakes, which are more urgent. */
function isRight(result: GenerateResult): boolean {
  return result.diagnostics.length === 0 && isUnchanged(result);
}

function showsHints({ check, format, quiet }: GenerateFlags): boolean {
  return check === true && format === 'text' && quiet !== true;
}

function isUnchanged({ changes }: GenerateResult): boolean {
  return changes.every(({ kind }) => kind === 'unchanged');
}

/** A watcher does not report a run without changes, problems or new warnings. */
function isQuietRun({ problems, warnings, changes }: RunReport): boolean {
  return problems.length + warnings.length === 0 && changes.every(({ kind }) => kind === 'unchanged');
}

function reportOf(
  flags: GenerateFlags,
  { problems, warnings = [], result, traced }: Run,
  elapsedMs: number,
): RunReport {
  const mode = flags.check === true ? 'check' : flags.dryRun === true ? 'dry-run' : 'generate';
  const all = result?.changes ?? [];
  const isStale = mode === 'check' && all.some(({ kind }) => kind !== 'unchanged');
  const changes = all.map((change): ReportedChange => {
    const { path, kind } = change;
    const isExplained = traced !== undefined && kind !== 'unchanged';
    return { path, kind, ...(isExplained ? explainStale(change, traced.get(path)) : {}) };
  });
  const exitCode = problems.length > 0 ? EXIT.inputError : isStale ? EXIT.drift : EXIT.success;
  return { mode, exitCode, problems, warnings, changes, elapsedMs };
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

  begin(phase: Phase | 'config'): void {
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
