import type { SourceLocation } from './schema/location.js';

/**
 * All codes of `fw-gen`. The meaning of a code never changes, and a retired code is never reused. Each code has a
 * golden case.
 */
export const DIAGNOSTICS = {
  FWGEN001: 'The source file does not parse',
  FWGEN002: 'A decorator argument is not a literal, or not one that the decorator takes',
  FWGEN003: 'A field has a type that cannot be stored or sent',
  FWGEN004: 'A field is declared in a form that cannot be generated for',
  FWGEN005: 'A field has a reserved name',
  FWGEN006: 'A model declares a field of its base class again',
  FWGEN007: 'A marked class does not extend the class that it must extend',
  FWGEN008: 'A class is not exported under its own name',
  FWGEN009: 'A class is abstract or generic',
  FWGEN010: 'A model declares a constructor',
  FWGEN011: 'A class extends Model or Entity without @AutoBuilder',
  FWGEN012: 'An event belongs to no model',
  FWGEN013: 'Two models have one name',
  FWGEN014: 'Two events have one name',
  FWGEN015: 'Two actions have one name',
  FWGEN016: 'Two models share a table or a generated file',
  FWGEN017: 'Two fields share a column',
  FWGEN018: 'An option speaks of a field that does not exist',
  FWGEN019: 'An option speaks of a state that does not exist',
  FWGEN020: 'A table name, column name or column type is not acceptable',
  FWGEN021: 'A class has a name that generated code needs for itself',
  FWGEN022: 'Two routes answer one method and path',
  FWGEN023: 'A route path is malformed',
  FWGEN024: 'A path parameter does not fit the parameters of its action',
  FWGEN025: 'A parameter cannot travel in a query string',
  FWGEN026: 'A response mapper is not usable',
  FWGEN027: 'A header speaks of a response field that does not exist or does not fit',
  FWGEN028: 'ifMatch or feed names no id parameter',
  FWGEN029: 'The type of a constructor parameter cannot be imported',
  FWGEN030: 'Two collaborators of one name have different types',
  FWGEN031: 'An id speaks of no model, or is sharded where its model is not',
  FWGEN032: 'A documentation tag does not fit its field',
  FWGEN033: '@HttpRoute stands on a class without @FwAction',
  FWGEN034: 'A type contains itself',
  FWGEN035: 'A file in the migrations folder is no migration',
  FWGEN036: 'A folder lies where it must not',
  FWGEN037: 'A target file was not written by fw-gen',
  FWGEN038: 'A file or folder cannot be read or written',
  FWGEN039: 'A repository class cannot be wired',
  FWGEN040: 'There is nothing to generate from',
  FWGEN041: 'A generated file was edited by hand',
  FWGEN042: 'A template does not parse, or fails when it runs',
  FWGEN043: 'A template speaks of something that its view does not have',
  FWGEN044: 'A template lies in the wrong place, or gives files that others give',
  FWGEN045: 'An action stages models on two shards',
  FWGEN046: 'A handler does not name its events',
  FWGEN047: 'Two handlers have one name',
  FWGEN048: 'A locked event, or stored params, changed in a way that breaks their readers',
  FWGEN049: 'There are too few upcasters for a version',
  FWGEN050: 'A lock of events or params cannot be read',
  FWGEN051: 'A class extends Saga without @FwSaga',
  FWGEN052: 'A saga has no state that it can live in',
  FWGEN053: 'A saga declares a constructor',
  FWGEN058: 'A field cannot be part of a natural key',
  FWGEN059: '@Key is repeated or misplaced',
  FWGEN060: 'A route has no rule',
} as const;

/** A code of `DIAGNOSTICS`. */
export type DiagnosticCode = keyof typeof DIAGNOSTICS;

/** A mistake in the input. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  /** Line and column are undefined if it concerns a whole file or folder. */
  readonly location: SourceLocation;
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}

export function diagnostic(
  code: DiagnosticCode,
  location: SourceLocation,
  message: string,
  hint: string,
): Diagnostic {
  return { code, location, message, hint };
}

/** `models/wallet.ts:12:3 FWGEN003 message` and, indented below it, the hint. */
export function formatDiagnostic({ code, location, message, hint }: Diagnostic): string {
  return `${formatLocation(location)} ${code} ${message}\n    ${hint}`;
}

/** `file:line:column`, or only the file. */
export function formatLocation({ file, line, column }: SourceLocation): string {
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

/** Sorted by place and code, without exact duplicates. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const byText = new Map(diagnostics.map((each) => [formatDiagnostic(each), each]));
  return [...byText.values()].sort(compareDiagnostics);
}

function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compareText(a.location.file, b.location.file) ||
    (a.location.line ?? 0) - (b.location.line ?? 0) ||
    (a.location.column ?? 0) - (b.location.column ?? 0) ||
    compareText(a.code, b.code)
  );
}

/** By code unit, so that the order is the same in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
