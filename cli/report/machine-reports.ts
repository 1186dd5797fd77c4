import { DIAGNOSTICS } from '../../generator/diagnostics.js';
import type { SourceLocation } from '../../generator/schema/location.js';
import { type ReportedProblem, type ReportOptions, type RunReport, staleFiles } from './report.js';

/** One JSON document with the content of the text report, for scripts. */
export function reportJson(report: RunReport, { output }: ReportOptions): void {
  output.info(JSON.stringify(report, undefined, 2));
}

/** Workflow commands of GitHub Actions: mistakes, warnings and stale files become annotations. */
export function reportGithub(report: RunReport, { output }: ReportOptions): void {
  const found = [
    ...report.problems.map((problem) => ({ ...problem, level: 'error' })),
    ...report.warnings.map((problem) => ({ ...problem, level: 'warning' })),
  ];
  for (const { code, location, message, hint, level } of found) {
    const place = [
      `file=${property(location.file)}`,
      ...(location.line === undefined ? [] : [`line=${location.line}`, `col=${location.column ?? 1}`]),
      `title=${code}`,
    ];
    output.info(`::${level} ${place.join(',')}::${data(`${message}\n${hint}`)}`);
  }
  if (report.mode !== 'check') return;
  for (const { path, cause } of staleFiles(report))
    output.info(`::error file=${property(path)},title=stale::${data(`This file is stale: ${cause ?? ''}`)}`);
}

/** SARIF 2.1.0, which code scanning tools take. */
export function reportSarif(report: RunReport, { output, version }: ReportOptions): void {
  const resultOf =
    (level: SarifLevel) =>
    ({ code, location, message, hint }: ReportedProblem): object =>
      sarifResult({ ruleId: code, level, text: `${message}. ${hint}`, ...location });
  const mistakes = report.problems.map(resultOf('error'));
  const warnings = report.warnings.map(resultOf('warning'));
  const stale = (report.mode === 'check' ? staleFiles(report) : []).map(({ path: file, cause = '' }) =>
    sarifResult({ ruleId: 'stale', level: 'error', text: `This file is stale: ${cause}`, file }),
  );
  const rules = Object.entries(DIAGNOSTICS).map(([id, title]) => ({ id, shortDescription: { text: title } }));
  const document = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      { tool: { driver: { name: 'fw-gen', version, rules } }, results: [...mistakes, ...warnings, ...stale] },
    ],
  };
  output.info(JSON.stringify(document, undefined, 2));
}

type SarifLevel = 'error' | 'warning';

interface SarifFinding extends SourceLocation {
  readonly ruleId: string;
  readonly level: SarifLevel;
  readonly text: string;
}

function sarifResult({ ruleId, level, text, file, line, column }: SarifFinding): object {
  const region = line === undefined ? {} : { region: { startLine: line, startColumn: column ?? 1 } };
  const uri = file.split('/').map(encodeURIComponent).join('/');
  return {
    ruleId,
    level,
    message: { text },
    locations: [{ physicalLocation: { artifactLocation: { uri }, ...region } }],
  };
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
