import { dirname, join, resolve } from 'node:path';
import { type Diagnostic, formatDiagnostic } from '../generator/diagnostics.js';
import { type GenerateResult, generate, MANIFEST_NAME } from '../generator/generate.js';
import { defined } from '../generator/schema/defined.js';
import { relativeTo } from '../generator/schema/paths.js';
import type { LockDrafts, SourceFiles } from '../generator/watch.js';
import type { CommandContext } from './command.js';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { fileText } from './file-text.js';
import type { LoadedOptions } from './project.js';
import { reportGithub, reportJson, reportSarif } from './report/machine-reports.js';
import type { Format, ReportOptions, RunReport } from './report/report.js';
import { explainStale } from './report/stale-file.js';
import { reportText, warningLines } from './report/text-report.js';
import { writeStamp } from './stamp.js';

type Flag = 'check' | 'dryRun' | 'strict' | 'watch' | 'force' | 'timing' | 'quiet';

/** Options of `fw-gen generate`. */
export interface GenerateFlags extends Readonly<Partial<Record<Flag, boolean | undefined>>> {
  readonly config: string;
  readonly format: Format;
}

/** What a watcher knows before a run, and wants to know after it. */
export interface Knowledge {
  /** Sources that an earlier run of this process has read, without changed files. */
  readonly sources?: SourceFiles;
  /** What earlier runs of this process have added to the lock files. */
  readonly drafts?: LockDrafts;
  /** What the configuration says. Default: it is read. */
  readonly loaded?: LoadedOptions;
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
  { output, version }: Pick<CommandContext, 'output' | 'version'>,
  knowledge: Knowledge = {},
): Promise<ExitCode> {
  const started = performance.now();
  const { check: isCheck = false, quiet = false, format, timing } = flags;
  const projectDirectory = dirname(resolve(flags.config));
  const clock = phaseClock(output.progress);
  const found = await runGenerator(flags, clock.begin, knowledge).finally(() => clock.begin(undefined));
  const isQuiet = isUnchanged(found) && found.problems.length + found.warnings.length === 0;
  if (knowledge.reportsUnchanged === false && isQuiet) return EXIT.success;
  const exitCode =
    found.problems.length > 0 ? EXIT.inputError : isCheck && !isUnchanged(found) ? EXIT.drift : EXIT.success;
  const report: RunReport = {
    mode: isCheck ? 'check' : flags.dryRun === true ? 'dry-run' : 'generate',
    exitCode,
    ...found,
    elapsedMs: performance.now() - started,
    ...(timing === true ? { timing: clock.phases } : {}),
  };
  REPORTERS[format](report, {
    output,
    quiet,
    version,
    projectDirectory,
    sourceText: (file) => fileText(join(projectDirectory, file))?.replace(/^\uFEFF/, ''),
  });
  return exitCode;
}

async function runGenerator(
  flags: GenerateFlags,
  onPhase: (phase: string) => void,
  { sources, drafts, loaded: known, onResult, warnings: shown }: Knowledge,
): Promise<Pick<RunReport, 'problems' | 'warnings' | 'changes'>> {
  const { check: isCheck = false, dryRun, force = false, strict = false } = flags;
  const startedAt = Date.now();
  onPhase('config');
  // The YAML parser is loaded on demand.
  const loaded = known ?? (await import('./project.js')).loadOptions(flags.config);
  if ('problems' in loaded) return { problems: loaded.problems, warnings: [], changes: [] };
  const { projectDirectory, outputDirectory } = loaded.options;
  const isDry = isCheck || dryRun === true;
  const run = { dryRun: isDry, force, strict, onPhase };
  const result = await generate({ ...loaded.options, ...run, ...defined({ sources, drafts }) });
  onResult?.(result);
  const { diagnostics: problems, inputs } = result;
  const warnings = result.warnings();
  const isCurrent = isUnchanged(result);
  if (problems.length === 0 && (!isDry || isCurrent))
    writeStamp({
      configFile: flags.config,
      startedAt,
      inputs,
      outputs: result.changes.filter(({ kind }) => kind !== 'remove').map(({ path }) => path),
      others: [relativeTo(projectDirectory, join(outputDirectory, MANIFEST_NAME))],
      warnings: warningLines(warnings),
    });
  const trace = isCheck && !isCurrent ? result.trace() : undefined;
  const changes = result.changes.map((change) => {
    const { path, kind } = change;
    const isExplained = trace !== undefined && kind !== 'unchanged';
    return { path, kind, ...(isExplained ? explainStale(change, trace.get(path)) : {}) };
  });
  return { problems, warnings: shown === undefined ? warnings : unseen(warnings, shown), changes };
}

/** The warnings that this process has not shown. */
function unseen(warnings: readonly Diagnostic[], shown: Set<string>): readonly Diagnostic[] {
  const found = warnings.filter((each) => !shown.has(formatDiagnostic(each)));
  for (const each of found) shown.add(formatDiagnostic(each));
  return found;
}

function isUnchanged({ changes }: Pick<RunReport, 'changes'>): boolean {
  return changes.every(({ kind }) => kind === 'unchanged');
}

const REPORTERS: Readonly<Record<Format, (report: RunReport, options: ReportOptions) => void>> = {
  text: reportText,
  json: reportJson,
  github: reportGithub,
  sarif: reportSarif,
};

/** Measures phases in milliseconds and shows the current one. */
function phaseClock(progress: Output['progress']): {
  readonly phases: Readonly<Record<string, number>>;
  /** Begins a phase; undefined: ends the last one. */
  readonly begin: (phase: string | undefined) => void;
} {
  const phases: Record<string, number> = {};
  let last = { phase: '', since: 0 };
  const begin = (phase = ''): void => {
    const now = performance.now();
    if (last.phase !== '') phases[last.phase] = (phases[last.phase] ?? 0) + now - last.since;
    last = { phase, since: now };
    progress?.(phase === '' ? '' : `${phase} ...`);
  };
  return { phases, begin };
}
