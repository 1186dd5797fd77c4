// Loaded first, and often instead of everything else, so it imports only modules that Node.js has already loaded.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Proof that a run found everything up to date: the states of all files that it read and of all files of the output. A
 * state consists of the times, size and number of a file. While every state is the same, there is nothing to do.
 */
export interface Stamp {
  /** State of this program. */
  readonly program: string;
  /** Paths from the folder of the configuration. The state of a missing file is ''. */
  readonly states: Readonly<Record<string, string>>;
  /** Number of files of the output. */
  readonly files: number;
  /** Warnings as they were printed. */
  readonly warnings: readonly string[];
}

/** Folder beside the configuration. It excludes itself from git, and no formatter knows the files in it. */
const FOLDER = '.fw-cache';
/**
 * Timestamps of file systems have a limited resolution, in milliseconds: a file that changed within this time may change
 * again without a new timestamp. Some file systems have full seconds.
 */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_500;

/** Returns what the last run found if everything is up to date; undefined if a run must decide. */
export function upToDate(configFile: string): Pick<Stamp, 'files' | 'warnings'> | undefined {
  try {
    const folder = dirname(resolve(configFile));
    const stamp: Stamp = JSON.parse(readFileSync(stampOf(configFile), 'utf8'));
    if (stamp.program !== programState()) return undefined;
    for (const path in stamp.states) {
      if (stateOf(`${folder}/${path}`) !== stamp.states[path]) return undefined;
    }
    return stamp;
  } catch {
    // No stamp, or a damaged one: the run writes a new one.
    return undefined;
  }
}

/** What a run without mistakes has read and emitted, as paths from the folder of the configuration. */
export interface FinishedRun {
  readonly configFile: string;
  /** Files and folders that it read. */
  readonly inputs: Iterable<string>;
  /** Files of the output that exist. */
  readonly outputs: readonly string[];
  /** Related files that are not counted. */
  readonly others: readonly string[];
  /** Warnings as they were printed. */
  readonly warnings: readonly string[];
  /** Start of the run, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** A setting of the generator that comes from the environment, whose state a stamp does not have. */
const REFERENCED = /\b(?:namespace|title|version|source|output|migrations|templates|client)["']?:[^\n]*\$\{/;

/** Records that everything is up to date, unless an input may have changed since the run read it. */
export function writeStamp(run: FinishedRun): void {
  const { configFile, inputs, outputs, others, startedAt, warnings } = run;
  const folder = dirname(resolve(configFile));
  const own = new Set([...outputs, ...others]);
  const states: Record<string, string> = {};
  try {
    if (REFERENCED.test(readFileSync(resolve(configFile), 'utf8'))) return;
    const file = stampOf(configFile);
    mkdirSync(dirname(file), { recursive: true });
    for (const path of [basename(configFile), ...inputs]) {
      if (own.has(path)) continue;
      if (isRecent(join(folder, path), startedAt)) {
        rmSync(file, { force: true });
        return;
      }
      states[path] = stateOf(join(folder, path));
    }
    for (const path of own) states[path] = stateOf(join(folder, path));
    const stamp: Stamp = { program: programState(), states, files: outputs.length, warnings };
    writeFileSync(join(dirname(file), '.gitignore'), '*\n');
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, JSON.stringify(stamp));
    renameSync(temporary, file);
  } catch {
    // Without a stamp the next run is only slower, which is no reason to fail.
  }
}

/** Each configuration of a folder has its own. */
function stampOf(configFile: string): string {
  return join(dirname(resolve(configFile)), FOLDER, `${basename(configFile)}.stamp`);
}

function isRecent(path: string, since: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  const latest = Math.max(stats.mtimeMs, stats.ctimeMs);
  return latest > since - (Number.isInteger(latest / 1_000) ? COARSE_TICK_MS : TICK_MS);
}

/** Returns the state of a file or folder; '' if it is missing. */
export function stateOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return '';
  const { mtimeMs, ctimeMs, ino, size } = stats;
  return `${mtimeMs} ${ctimeMs} ${stats.isDirectory() ? 0 : size} ${ino}`;
}

/** State of the file with this module, which each installation writes anew. */
function programState(): string {
  return stateOf(fileURLToPath(import.meta.url));
}
