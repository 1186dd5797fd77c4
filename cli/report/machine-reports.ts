import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DIAGNOSTICS } from '../../generator/diagnostics.js';
import type { SourceLocation } from '../../generator/schema/location.js';
import { relativeTo } from '../../generator/schema/paths.js';
import { type ReportedProblem, type ReportOptions, type RunReport, staleFiles } from './report.js';

/** One JSON document with the content of the text report, for scripts. */
export function reportJson(report: RunReport, { output }: ReportOptions): void {
  output.info(JSON.stringify(report, undefined, 2));
}

/** Workflow commands of GitHub Actions: mistakes, warnings and stale files become annotations. */
export function reportGithub(report: RunReport, { output, projectDirectory }: ReportOptions): void {
  for (const { level, rule, texts, file, line, column = 1 } of findingsOf(report, projectDirectory)) {
    const place = [
      `file=${property(file)}`,
      ...(line === undefined ? [] : [`line=${line}`, `col=${column}`]),
      `title=${rule}`,
    ];
    output.info(`::${level} ${place.join(',')}::${data(texts.join('\n'))}`);
  }
}

/** SARIF 2.1.0, which code scanning tools take. */
export function reportSarif(report: RunReport, { output, version, projectDirectory }: ReportOptions): void {
  const rules = Object.entries({ ...DIAGNOSTICS, ...OTHER_RULES }).map(([id, title]) => ({
    id,
    shortDescription: { text: title },
  }));
  const results = findingsOf(report, projectDirectory).map(sarifResult);
  const document = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'fw-gen', version, rules } }, results }],
  };
  output.info(JSON.stringify(document, undefined, 2));
}

/** Rules of findings that are no diagnostics. */
const OTHER_RULES = {
  FWCONFIG: 'The configuration has a mistake',
  stale: 'A generated file differs from what its sources generate',
} as const;

/** What a report for code hosts says about a file, whose path is relative to the root of the checkout. */
interface Finding extends SourceLocation {
  readonly rule: string;
  readonly level: 'error' | 'warning';
  /** The finding and, if it is known, what to do. */
  readonly texts: readonly string[];
}

function findingsOf(report: RunReport, folder: string): readonly Finding[] {
  const findingOf =
    (level: Finding['level']) =>
    ({ code, location, message, hint }: ReportedProblem): Finding => {
      // The configuration is named as on the command line.
      const file = pathInCheckout(location.file, code === 'FWCONFIG' ? process.cwd() : folder);
      return { ...location, file, level, rule: code, texts: [message, hint] };
    };
  const stale = report.mode === 'check' ? staleFiles(report) : [];
  return [
    ...report.problems.map(findingOf('error')),
    ...report.warnings.map(findingOf('warning')),
    ...stale.map(({ path, cause = '' }): Finding => {
      const file = pathInCheckout(path, folder);
      return { file, level: 'error', rule: 'stale', texts: [`This file is stale: ${cause}`] };
    }),
  ];
}

/** Code hosts know only files below the root of the checkout. */
function pathInCheckout(file: string, folder: string): string {
  const path = relativeTo(process.env['GITHUB_WORKSPACE'] ?? checkoutAround(folder), resolve(folder, file));
  return path.startsWith('../') ? file : path;
}

/** The nearest folder that Git checked out, or else the working directory. A worktree has a file `.git`. */
function checkoutAround(folder: string): string {
  const isFound = existsSync(join(folder, '.git'));
  return isFound ? folder : folder === dirname(folder) ? process.cwd() : checkoutAround(dirname(folder));
}

function sarifResult({ rule, level, texts, file, line, column }: Finding): object {
  const region = line === undefined ? {} : { region: { startLine: line, startColumn: column ?? 1 } };
  const uri = file.split('/').map(encodeURIComponent).join('/');
  return {
    ruleId: rule,
    level,
    message: { text: texts.map((each) => each.replace(/(?<![.?])$/, '.')).join(' ') },
    locations: [{ physicalLocation: { artifactLocation: { uri }, ...region } }],
  };
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
