import { createRequire } from 'node:module';
import type * as Diff from 'diff';
import { plainText } from '../../generator/content-hash.js';
import { formatLocation } from '../../generator/diagnostics.js';
import type { TracedText } from '../../generator/generate.js';
import type { SourceLocation } from '../../generator/schema/location.js';
import type { FileChange } from '../../generator/write/plan-write.js';

const load = createRequire(import.meta.url);

/** What a report shows about a stale file. */
export interface StaleFile {
  /** The source and line that make it stale. */
  readonly cause: string;
  /** In the format of `diff -u`. */
  readonly diff: string;
}

/** Differences of more lines are not searched for: the time grows with their square. */
const MAXIMUM_EDITS = 5_000;

/** Compares a stale file with its new text. Loads the package `diff` on demand. */
export function explainStale(change: FileChange, traced: TracedText | undefined): StaleFile {
  const { FILE_HEADERS_ONLY, formatPatch, structuredPatch }: typeof Diff = load('diff');
  const { path, before, text } = change;
  const from = before === undefined ? '/dev/null' : `a/${path}`;
  const to = text === undefined ? '/dev/null' : `b/${path}`;
  const options = { context: 3, maxEditLength: MAXIMUM_EDITS };
  const patch = structuredPatch(from, to, plainText(before ?? ''), text ?? '', undefined, undefined, options);
  return {
    cause: causeOf(change, traced, patch),
    diff:
      patch === undefined
        ? `--- ${from}\n+++ ${to}\nMore than ${MAXIMUM_EDITS} lines differ.`
        : formatPatch(patch, FILE_HEADERS_ONLY).replace(/\n$/, ''),
  };
}

function causeOf(
  { kind, before }: FileChange,
  traced: TracedText | undefined,
  patch: Diff.StructuredPatch | undefined,
): string {
  if (kind === 'remove') return 'no source generates this file any more';
  const origins = traced?.origins ?? [];
  const place =
    before === undefined
      ? origins.find((origin) => origin !== undefined)
      : patch === undefined
        ? undefined
        : originOfFirstEdit(origins, patch);
  return place === undefined ? 'the project as a whole changed' : `caused by ${formatLocation(place)}`;
}

/** The declaration of the first line that differs, else the nearest one. */
function originOfFirstEdit(
  origins: TracedText['origins'],
  { hunks: [first] }: Diff.StructuredPatch,
): SourceLocation | undefined {
  if (first === undefined) return undefined;
  const line = first.newStart - 1 + first.lines.findIndex((each) => !each.startsWith(' '));
  return origins[line] ?? nearest(origins, line);
}

function nearest(origins: TracedText['origins'], line: number): SourceLocation | undefined {
  for (let distance = 1; distance < 4; distance += 1) {
    const found = origins[line - distance] ?? origins[line + distance];
    if (found !== undefined) return found;
  }
  return undefined;
}
