import { type Dirent, type FSWatcher, readdirSync, watch } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSystemError } from '../generator/system-error.js';
import { stateOf } from './stamp.js';

/** A file is written in several steps, so a change is reported after this quiet time, in milliseconds. */
const QUIET_MS = 10;
/** Interval of full scans, in milliseconds: events may get lost when thousands arrive at once, or on network drives. */
const POLL_MS = 1_000;
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist']);

/** Finds the changes of files, and reports when there may be one. */
export class WatchedFiles {
  readonly #watchers = new Map<string, FSWatcher>();
  /** State of each file that exists, by path. */
  #states = new Map<string, string>();
  #folders: readonly string[] = [];
  #noticed = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /**
   * Returns the paths of files that have changed since the last call; at first, of all that exist.
   *
   * @param folders with everything below them
   * @param beside folders whose own entries are watched: a folder of `folders` may appear there
   */
  changes(
    folders: readonly string[],
    files: readonly string[],
    beside: readonly string[] = [],
  ): readonly string[] {
    const before = this.#states;
    this.#states = new Map();
    this.#folders = folders;
    this.accept(files);
    this.#watchOnly(new Set([...this.#scan(folders), ...beside]));
    const after = this.#states;
    const changed = [...after].filter(([path, state]) => before.get(path) !== state).map(([path]) => path);
    return [...changed, ...[...before.keys()].filter((path) => !after.has(path))];
  }

  /** Takes the present state of files as known. */
  accept(paths: readonly string[]): void {
    for (const path of paths) {
      const state = stateOf(path);
      if (state === '') this.#states.delete(path);
      else this.#states.set(path, state);
    }
  }

  /** Whether the last call of `changes` has found a file, or the next one will if it exists. */
  has(path: string): boolean {
    return this.#states.has(path) || this.#folders.some((folder) => isScanned(relative(folder, path)));
  }

  /** Ends when something may have changed, or when the signal is given. */
  async next(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#noticed.signal]);
    await sleep(POLL_MS, undefined, { signal: ended }).catch(() => undefined);
    this.#noticed = new AbortController();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watchOnly(new Set());
  }

  /** @returns the folders, and those below them */
  #scan(folders: readonly string[]): ReadonlySet<string> {
    const seen = new Set<string>();
    const pending = [...folders];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      for (const entry of entriesOf(folder)) {
        const path = join(folder, entry.name);
        if (isSkipped(entry.name)) continue;
        if (entry.isDirectory()) pending.push(path);
        else if (entry.isFile()) this.accept([path]);
      }
    }
    return seen;
  }

  #watchOnly(wanted: ReadonlySet<string>): void {
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#leave(folder);
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, () => this.#notice());
      // The folder may be deleted while it is watched; the next scan notices.
      watcher.on('error', () => this.#leave(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder is gone, or the system has no more watches: only scans remain.
    }
  }

  #leave(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #notice(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#noticed.abort(), QUIET_MS);
  }
}

function isSkipped(name: string): boolean {
  return name.startsWith('.') || SKIPPED.has(name);
}

/** Whether a scan finds what is at a path relative to its folder. */
function isScanned(path: string): boolean {
  return !path.split(sep).some(isSkipped);
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
