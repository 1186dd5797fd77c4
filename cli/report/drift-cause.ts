import { formatLocation } from '../../generator/diagnostics.js';
import type { TracedText } from '../../generator/generate.js';
import type { SourceLocation } from '../../generator/schema/location.js';
import type { FileChange } from '../../generator/write/plan-write.js';
import { hunksOf } from './unified-diff.js';

/** Describes the source and line that make a file stale. */
export function driftCause(change: FileChange, traced: TracedText | undefined): string {
  if (change.kind === 'remove') return 'no source generates this file any more';
  const place = traced === undefined ? undefined : causeOf(change, traced);
  return place === undefined ? 'the project as a whole changed' : `caused by ${formatLocation(place)}`;
}

/** The declaration of the first line that differs, else the nearest one. */
function causeOf({ before, text = '' }: FileChange, { origins }: TracedText): SourceLocation | undefined {
  if (before === undefined) return origins.find((origin) => origin !== undefined);
  for (const { afterStart, lines } of hunksOf(before, text)) {
    let line = afterStart - 1;
    for (const edit of lines) {
      if (edit[0] !== ' ') return origins[line] ?? nearest(origins, line);
      line += 1;
    }
  }
  return undefined;
}

function nearest(origins: readonly (SourceLocation | undefined)[], line: number): SourceLocation | undefined {
  for (let distance = 1; distance < 4; distance += 1) {
    const found = origins[line - distance] ?? origins[line + distance];
    if (found !== undefined) return found;
  }
  return undefined;
}
