import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError } from '../generator/system-error.js';

/** State of every watched file by absolute path, and the folders that contain them. */
export interface Snapshot {
  readonly files: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
}

const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist']);

/** The state of all files below some folders and of single files. Missing files are left out. */
export function takeSnapshot(folders: readonly string[], files: readonly string[]): Snapshot {
  const states = new Map<string, string>();
  const seen = new Set<string>();
  const pending = [...folders];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (seen.has(folder)) continue;
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) continue;
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile()) note(states, path);
    }
    seen.add(folder);
  }
  for (const file of files) note(states, file);
  return { files: states, folders: [...seen] };
}

/** Paths that differ between two snapshots. */
export function changedPaths(before: Snapshot, after: Snapshot): readonly string[] {
  const changed = [...after.files].filter(([path, state]) => before.files.get(path) !== state);
  const gone = [...before.files.keys()].filter((path) => !after.files.has(path));
  return [...changed.map(([path]) => path), ...gone];
}

function note(states: Map<string, string>, path: string): void {
  const state = stateOf(path);
  if (state !== undefined) states.set(path, state);
}

/** State of one file; undefined if there is none. */
export function stateOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  return `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // The folder was deleted meanwhile, for example by a branch switch.
    if (isSystemError(error)) return [];
    throw error;
  }
}
