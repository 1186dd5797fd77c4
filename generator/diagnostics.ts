import type { SourceLocation } from './schema/location.js';

/**
 * All codes of `fw-gen`. The meaning of a code never changes, and a retired code is never reused. Each code has a
 * golden case.
 */
export const DIAGNOSTICS = {
  FWGEN001: 'A source file has a syntax error',
  FWGEN002: 'A decorator argument is not a literal, or is invalid',
  FWGEN003: 'A field has a type that cannot be stored or sent',
  FWGEN004: 'A field is declared in an unsupported form',
  FWGEN005: 'A field has a reserved name',
  FWGEN006: 'A model redeclares a field of its base class',
  FWGEN007: 'A marked class does not extend the required base class',
  FWGEN008: 'A class is not exported under its own name',
  FWGEN009: 'A class is abstract or generic',
  FWGEN010: 'A model declares a constructor',
  FWGEN011: 'A class extends Model or Entity without @AutoBuilder',
  FWGEN012: 'An event belongs to no model',
  FWGEN013: 'Two models have the same name',
  FWGEN014: 'Two events have the same name',
  FWGEN015: 'Two actions have the same name',
  FWGEN016: 'Two models share a table or a generated file',
  FWGEN017: 'Two fields share a column',
  FWGEN018: 'An option names a field that does not exist',
  FWGEN019: 'An option names a state that does not exist',
  FWGEN020: 'A table name, column name or column type is invalid',
  FWGEN021: 'A class has a name that generated code uses itself',
  FWGEN022: 'Two routes have the same method and path',
  FWGEN023: 'A route path is malformed',
  FWGEN024: 'A path parameter does not match the params of its action',
  FWGEN025: 'A parameter cannot be sent in a query string',
  FWGEN026: 'A response class cannot be used',
  FWGEN027: 'A header option names a response field that does not exist or has an unsuitable type',
  FWGEN028: 'ifMatch or feed does not name an id parameter',
  FWGEN029: 'The type of a constructor parameter cannot be imported',
  FWGEN030: 'Two collaborators with the same name have different types',
  FWGEN031: 'An id does not match a model',
  FWGEN032: 'A documentation tag is invalid for its field',
  FWGEN033: 'A class has @HttpRoute but not @FwAction',
  FWGEN034: 'A type is recursive in an unsupported way',
  FWGEN035: 'A file in the migrations folder is not a migration',
  FWGEN036: 'A folder has an invalid location',
  FWGEN037: 'fw-gen would overwrite a file that it did not write',
  FWGEN038: 'A file or folder cannot be read or written',
  FWGEN039: 'A repository class cannot be wired',
  FWGEN040: 'No marked class was found',
  FWGEN041: 'A generated file was edited by hand',
  FWGEN042: 'A template has a syntax error or fails',
  FWGEN043: 'A template uses a name that its view does not have',
  FWGEN044: 'A file in the folder of templates replaces no template',
  FWGEN045: 'An action stages models on two shards',
  FWGEN046: 'A handler does not name its events',
  FWGEN047: 'Two handlers have the same name',
  FWGEN048: 'A released version of an event or of stored params has changed incompatibly',
  FWGEN049: 'Upcasters for older versions are missing',
  FWGEN050: 'A lock file is damaged',
  FWGEN051: 'A class extends Saga without @FwSaga',
  FWGEN052: 'The state model of a saga cannot be used',
  FWGEN053: 'A saga declares a constructor',
  FWGEN058: 'A field cannot be part of a natural key',
  FWGEN059: 'A decorator is repeated or misplaced',
  FWGEN060: 'A route has no rule',
  FWGEN061: 'A pattern may take exponential time',
  FWGEN062: 'A pattern has no maximum length',
  FWGEN063: 'A stored name has no class any more',
  FWGEN064: 'Two migrations of the same table have no certain order',
  FWGEN065: 'A class extends Action without @FwAction',
  FWGEN066: 'A class handles events without @FwEventHandler',
  FWGEN067: 'No source creates an event',
  FWGEN068: 'A decorator of the project calls one of fw-actions',
  FWGEN069: 'A staged model depends on one that was only read',
  FWGEN070: 'A recurring action cannot be scheduled',
  FWGEN071: 'A result cannot be stored under an idempotency key',
  FWGEN072: 'A route cannot run an action over several shards',
  FWGEN073: 'A GET route changes what is stored',
  FWGEN074: 'Decimals are compared by an operator',
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
