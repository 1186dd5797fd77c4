import type { Diagnostic } from '../../generator/diagnostics.js';
import type { ExitCode, Output } from '../exit.js';

/** Formats of `--format`. */
export const FORMATS = ['text', 'json', 'github', 'sarif'] as const;
export type Format = (typeof FORMATS)[number];

/** One file of the output. */
export interface ReportedChange {
  readonly path: string;
  readonly kind: 'create' | 'update' | 'remove' | 'unchanged';
  /** The source and line that made it stale; only with `--check`. */
  readonly cause?: string;
  /** Unified diff; only with `--check`. */
  readonly diff?: string;
}

/** A mistake: a diagnostic, or a problem of the configuration, which has no code. */
export interface ReportedProblem extends Omit<Diagnostic, 'code'> {
  readonly code: Diagnostic['code'] | 'FWCONFIG';
}

/** The result of a run, for a report. */
export interface RunReport {
  readonly mode: 'generate' | 'check' | 'dry-run';
  readonly exitCode: ExitCode;
  readonly problems: readonly ReportedProblem[];
  /** What is probably a mistake. */
  readonly warnings: readonly ReportedProblem[];
  readonly changes: readonly ReportedChange[];
  readonly elapsedMs: number;
  /** Milliseconds by phase, if requested. */
  readonly timing?: Readonly<Record<string, number>>;
}

/** Options of a format. */
export interface ReportOptions {
  readonly output: Output;
  readonly quiet: boolean;
  /** Text of a source, for code frames; undefined if it cannot be read. */
  readonly sourceText: (file: string) => string | undefined;
  readonly version: string;
  /** Absolute path of the folder to which the paths of a report are relative. */
  readonly projectDirectory: string;
}

/** The files that differ from those on the disk. */
export function staleFiles({ changes }: RunReport): readonly ReportedChange[] {
  return changes.filter(({ kind }) => kind !== 'unchanged');
}
