import { formatLocation } from '../../generator/diagnostics.js';
import { counted } from '../terminal-text.js';
import { codeFrame } from './code-frame.js';
import { type ReportedProblem, type ReportOptions, type RunReport, staleFiles } from './report.js';

/** The report for users: each mistake with its code frame, then one summary line. */
export function reportText(report: RunReport, options: ReportOptions): void {
  const { output, quiet } = options;
  for (const problem of report.problems) output.error(problemText(problem, options));
  if (report.problems.length > 0) {
    output.error(`${counted(report.problems.length, 'mistake')}, nothing written`);
    return;
  }
  if (report.mode === 'check') reportDrift(report, options);
  if (report.mode === 'dry-run') {
    for (const { kind, path } of staleFiles(report)) output.info(`${VERBS[kind]} ${path}`);
  }
  if (!quiet) output.info(summary(report));
  for (const [phase, milliseconds] of Object.entries(report.timing ?? {})) {
    output.info(`  ${phase.padEnd(7)}${milliseconds.toFixed(1).padStart(9)} ms`);
  }
  if (!quiet) for (const line of warningLines(report.warnings)) output.error(line);
}

/** The first warnings as text, and the number of the others. */
export function warningLines(warnings: RunReport['warnings']): readonly string[] {
  const shown = warnings
    .slice(0, MOST_WARNINGS)
    .map(
      ({ code, location, message, hint }) =>
        `Warning: ${formatLocation(location)} ${code} ${message}\n    ${hint}`,
    );
  const others = warnings.length - shown.length;
  if (others === 0) return shown;
  return [...shown, `Warning: ${others} more. \`fw-gen generate --check --strict\` lists all.`];
}

/** Limits the output of a project without rules. */
const MOST_WARNINGS = 20;

const VERBS = { create: 'would create', update: 'would update', remove: 'would remove', unchanged: '' };

/** `file:line:column CODE message`, the frame, and the hint. */
export function problemText(
  problem: ReportedProblem,
  { sourceText }: Pick<ReportOptions, 'sourceText'>,
): string {
  const { code, location, message, hint } = problem;
  // The lines around a mistake in the configuration may have a password.
  const isShown = location.line !== undefined && code !== 'FWCONFIG';
  const text = isShown ? sourceText(location.file) : undefined;
  const frame = text === undefined ? '' : codeFrame(text, location);
  return [`${formatLocation(location)} ${code} ${message}`, frame, `    ${hint}`, '']
    .filter((line, index) => index === 3 || line.trim() !== '')
    .join('\n');
}

function reportDrift(report: RunReport, { output, quiet }: ReportOptions): void {
  for (const { path, cause, diff } of staleFiles(report)) {
    output.info(`${path} is stale: ${cause ?? ''}`);
    if (!quiet && diff !== undefined) output.info(`${diff}\n`);
  }
}

function summary({ mode, changes, elapsedMs }: RunReport): string {
  const unchanged = changes.filter(({ kind }) => kind === 'unchanged').length;
  const removed = changes.filter(({ kind }) => kind === 'remove').length;
  const written = changes.length - unchanged - removed;
  const time = `${Math.round(elapsedMs)} ms`;
  if (mode === 'check') {
    return written + removed === 0
      ? `${counted(unchanged, 'file')} up to date, ${time}`
      : `${counted(written + removed, 'file')} stale, ${unchanged} up to date: run \`fw-gen generate\`, ${time}`;
  }
  const [toWrite, toRemove] = mode === 'dry-run' ? ['to write', 'to remove'] : ['written', 'removed'];
  const removal = removed > 0 ? `, ${removed} ${toRemove}` : '';
  return `${counted(written, 'file')} ${toWrite}, ${unchanged} unchanged${removal}, ${time}`;
}
