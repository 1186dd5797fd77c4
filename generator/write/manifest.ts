import { compareText } from '../diagnostics.js';

/** The files that earlier runs wrote into the output folder, by path relative to it. */
export interface Manifest {
  /**
   * The hashes of an unmodified file: one, or two during a run (before and after), so that files of a killed run do not
   * look edited.
   */
  readonly files: ReadonlyMap<string, ReadonlySet<string>>;
  /** Files with manifest lines of both sides of a merge: their text may be a merge result rather than a manual edit. */
  readonly disputed: ReadonlySet<string>;
}

/** Prints a manifest: one sorted line per file, so that branches that add files can be merged. */
export function printManifest(files: ReadonlyMap<string, ReadonlySet<string>>): string {
  const lines = [...files]
    .sort(([a], [b]) => compareText(a, b))
    .map(([path, hashes]) => `    ${JSON.stringify(path)}: ${printHashes([...hashes].sort(compareText))}`);
  return `{\n  "about": ${JSON.stringify(ABOUT)},\n  "format": 1,\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`;
}

const ABOUT =
  'Files that fw-gen wrote, with their hashes. It does not replace other files. Commit this file with them.';

function printHashes(hashes: readonly string[]): string {
  return hashes.length === 1
    ? JSON.stringify(hashes[0])
    : `[${hashes.map((hash) => JSON.stringify(hash)).join(', ')}]`;
}

const ENTRY = /^\s*("(?:[^"\\]|\\.)+"): (\[[^\]]*\]|"[^"]*"),?\s*$/;
const HASH = /[0-9a-f]{64}/g;

/** Parses a manifest line by line, so that the valid lines of a conflicted or truncated one are used. */
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
    // Git's merge driver `union` keeps the lines of both sides.
    if (inConflict || files.has(path)) disputed.add(path);
    files.set(path, new Set([...(files.get(path) ?? []), ...found]));
  }
  return { files, disputed };
}

/** True for a text with merge conflict markers. */
export function hasConflictMarkers(text: string): boolean {
  return /^<{7}( |$)/m.test(text) && /^>{7}( |$)/m.test(text);
}
