import { hash } from 'node:crypto';
import { compareText } from '../diagnostics.js';

/** File beside the emitted ones that says what was emitted. It is committed with them. */
export const MANIFEST_NAME = '.fw-manifest.json';

/** What runs before this one wrote into the output folder, by path below it. */
export interface Manifest {
  /**
   * Hashes that a file may have and still be as we wrote it: one, or two while a run is under way (before and after),
   * so that a run that was killed leaves nothing that looks edited.
   */
  readonly files: ReadonlyMap<string, ReadonlySet<string>>;
  /** Files whose manifest lines are in a merge conflict: their text may be a mixture that was not edited by hand. */
  readonly disputed: ReadonlySet<string>;
}

/** The hash of a file's text, whatever line ends a checkout gave it. */
export function hashOf(text: string): string {
  const normalized = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  return hash('sha256', normalized, 'hex');
}

/** Prints a manifest: one line per file, sorted, so that two branches that add files merge. */
export function printManifest(files: ReadonlyMap<string, ReadonlySet<string>>): string {
  const lines = [...files]
    .sort(([a], [b]) => compareText(a, b))
    .map(([path, hashes]) => `    ${JSON.stringify(path)}: ${printHashes([...hashes].sort(compareText))}`);
  return `{\n  "about": ${JSON.stringify(ABOUT)},\n  "format": 1,\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`;
}

const ABOUT = 'What fw-gen wrote here, so that it replaces nothing else. Commit it with the files.';

function printHashes(hashes: readonly string[]): string {
  return hashes.length === 1
    ? JSON.stringify(hashes[0])
    : `[${hashes.map((hash) => JSON.stringify(hash)).join(', ')}]`;
}

const ENTRY = /^\s*("(?:[^"\\]|\\.)+"): (\[[^\]]*\]|"[^"]*"),?\s*$/;
const HASH = /[0-9a-f]{64}/g;

/** Reads a manifest line by line, so that one with merge conflicts, or cut short, still says what it can. */
export function readManifest(text: string): Manifest {
  const files = new Map<string, Set<string>>();
  const disputed = new Set<string>();
  let inConflict = false;
  for (const line of text.split(/\r?\n/)) {
    if (/^<{7}( |$)/.test(line)) inConflict = true;
    else if (/^>{7}( |$)/.test(line)) inConflict = false;
    const [, name, hashes] = ENTRY.exec(line) ?? [];
    if (name === undefined || hashes === undefined) continue;
    const found = hashes.match(HASH) ?? [];
    if (found.length === 0) continue;
    const path: unknown = JSON.parse(name);
    if (typeof path !== 'string') continue;
    files.set(path, new Set([...(files.get(path) ?? []), ...found]));
    if (inConflict) disputed.add(path);
  }
  return { files, disputed };
}

/** True for a text that a merge left with both sides in it. */
export function hasConflictMarkers(text: string): boolean {
  return /^<{7}( |$)/m.test(text) && /^>{7}( |$)/m.test(text);
}
