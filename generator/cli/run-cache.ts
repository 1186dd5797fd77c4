// Loaded before anything else, and often instead of everything else: it imports nothing but what Node.js has loaded.
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contentHash, exactHash } from '../content-hash.js';
import type { TextsFile } from './stored-texts.js';

/**
 * The state of a file when a run read it: its state (times, size, file number) and the hash of its text. While the
 * system reports the same state, it holds the same text. An ambiguous state is '?': then only the text
 * counts. Both are '' where nothing is; a folder has no text.
 */
export type Fingerprint = readonly [state: string, text: string];

/** What a run that found everything right leaves behind. */
export interface RunRecord {
  readonly format: 3;
  /** State of this program itself. */
  readonly program: string;
  /** Names the run. What it read stands in a file of its own, under the same name. */
  readonly run: string;
  /** What the output hung on besides sources. */
  readonly emitted: string;
  /** Files and folders whose content decides the result, by path from the configuration's folder. */
  readonly inputs: Readonly<Record<string, Fingerprint>>;
  readonly outputs: Readonly<Record<string, Fingerprint>>;
  /** Environment variables that the configuration names, and whether they are set. */
  readonly environment: Readonly<Record<string, boolean>>;
  /** Number of files of the output. */
  readonly files: number;
  /** What the configuration says to the generator, with paths from its folder. */
  readonly settings: Settings;
  /** Where texts of what it read are. */
  readonly texts: TextsFile;
}

/** A configuration's generator section. */
export interface Settings {
  readonly source: string;
  readonly output: string;
  readonly migrations: string;
  readonly templates?: string;
  readonly client?: string;
  readonly title?: string;
  readonly version?: string;
}

/** Folder below the output's. */
export const CACHE_FOLDER = '.fw-cache';
/** File that a record stands in. */
export const FILE_NAME = 'state.json';
/** Clocks of file systems tick: what changed so shortly before may change again without a trace. */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_500;
/** Length of a record of thousands of files. */
const LARGE = 300_000;
const QUIETLY = { throwIfNoEntry: false } as const;
/** States like no other: it may be any, and the text decides. */
export const UNSAFE = '?';

/**
 * Number of files of the output if all of it is known to be right; else what is known, for the run that must tell.
 *
 * @param onLarge called before thousands of files are read
 */
export function filesUpToDate(configFile: string, onLarge?: () => void): number | Recollection | undefined {
  const found = recollect(configFile, onLarge);
  if (found === undefined) return undefined;
  const { record, changed, isOutputIntact, isRefreshed, isReconfigured, cache } = found;
  if (changed.length > 0 || !isOutputIntact || isReconfigured) return found;
  // The same texts in other states: the next run need not read them again.
  if (isRefreshed) keep(cache, record);
  return record.files;
}

/** A record of an earlier run, and the changes of its files since. */
export interface Recollection {
  /** With the states of now where texts are the same. */
  readonly record: RunRecord;
  /** Inputs that hold something else now. */
  readonly changed: readonly string[];
  /** The output is as it was written. */
  readonly isOutputIntact: boolean;
  /** States differ from those that were kept. */
  readonly isRefreshed: boolean;
  /** The configuration, or what it takes from the environment, may say something else. */
  readonly isReconfigured: boolean;
  /** Of the configuration. */
  readonly folder: string;
  /** Where the record lies. */
  readonly cache: string;
}

/** What the last run left behind, whatever has changed since; undefined if there is nothing that can be used. */
export function recollect(configFile: string, onLarge?: () => void): Recollection | undefined {
  try {
    const found = findRecord(configFile, onLarge);
    if (found === undefined) return undefined;
    const { record, folder, cache } = found;
    const inputs = compareFingerprints(folder, record.inputs, contentHash);
    const outputs = compareFingerprints(folder, record.outputs, exactHash);
    return {
      record: { ...record, inputs: inputs.fingerprints, outputs: outputs.fingerprints },
      changed: inputs.changed,
      isOutputIntact: outputs.changed.length === 0,
      isRefreshed: inputs.isRefreshed || outputs.isRefreshed,
      isReconfigured: inputs.changed.includes(basename(configFile)) || !hasEnvironment(record),
      folder,
      cache,
    };
  } catch {
    // Not a record of ours: the run makes another.
    return undefined;
  }
}

interface FoundRecord {
  readonly record: RunRecord;
  /** Of the configuration. */
  readonly folder: string;
  /** Where the record lies. */
  readonly cache: string;
}

/** Where runs of a configuration keep what they leave behind; undefined if it names no output folder. */
export function cacheFolder(configFile: string): string | undefined {
  const config = resolve(configFile);
  // A guess where the output is; whether it is right, the record says.
  const output = /\boutput:[ \t]*["']?([^"'\s,}#]+)/.exec(readFileSync(config, 'utf8'))?.[1];
  return output === undefined ? undefined : join(resolve(dirname(config), output), CACHE_FOLDER);
}

function findRecord(configFile: string, onLarge?: () => void): FoundRecord | undefined {
  const cache = cacheFolder(configFile);
  if (cache === undefined) return undefined;
  const text = readFileSync(join(cache, FILE_NAME), 'utf8');
  if (text.length > LARGE) onLarge?.();
  const record: RunRecord = JSON.parse(text);
  // Several configurations may name one output folder: the record is of the one that it was made for.
  const isKnown = basename(configFile) in record.inputs;
  const isOurs = record.format === 3 && record.program === programState() && isKnown;
  return isOurs ? { record, folder: dirname(resolve(configFile)), cache } : undefined;
}

function hasEnvironment({ environment }: RunRecord): boolean {
  return Object.keys(environment).every((name) => environment[name] === (process.env[name] !== undefined));
}

interface Compared {
  /** Paths whose content is another one. */
  readonly changed: readonly string[];
  /** With states of now where texts are the same. */
  readonly fingerprints: Readonly<Record<string, Fingerprint>>;
  readonly isRefreshed: boolean;
}

function compareFingerprints(
  folder: string,
  fingerprints: Readonly<Record<string, Fingerprint>>,
  hash: TextHash,
): Compared {
  const now = Date.now();
  const changed: string[] = [];
  const refreshed: Record<string, Fingerprint> = {};
  for (const path in fingerprints) {
    const [state, text] = fingerprints[path] ?? [UNSAFE, UNSAFE];
    // Thousands of paths, all of them plain: joining them with care takes as long as asking for their states.
    const file = `${folder}/${path}`;
    const present = stateOf(file, now);
    if (present !== UNSAFE && present === state) continue;
    if (text === '' || present === '' || hashOf(file, hash) !== text) changed.push(path);
    else if (present !== state) refreshed[path] = [present, text];
  }
  const isRefreshed = Object.keys(refreshed).length > 0;
  return {
    changed,
    fingerprints: isRefreshed ? { ...fingerprints, ...refreshed } : fingerprints,
    isRefreshed,
  };
}

function keep(cache: string, record: RunRecord): void {
  try {
    writeAtomically(cache, FILE_NAME, JSON.stringify(record));
  } catch {
    // A folder that may only be read: the answer is right all the same.
  }
}

/** Two processes at once each leave a whole file, whichever comes last. */
export function writeAtomically(folder: string, name: string, text: string): void {
  const temporary = join(folder, `${name}.${process.pid}.tmp`);
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, join(folder, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** State of this program itself: of the file that the build puts most of it into, else of this one. */
export function programState(): string {
  const bundle = fileURLToPath(new URL('../bundle/generate.cjs', import.meta.url));
  const stats = statSync(bundle, { throwIfNoEntry: false }) ?? statSync(fileURLToPath(import.meta.url));
  return `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`;
}

/** '' for nothing, '?' for what changed so shortly before `since`, or later, that it may change again unseen. */
export function stateOf(path: string, since: number): string {
  const stats = statSync(path, QUIETLY);
  if (stats === undefined) return '';
  const { mtimeMs, ctimeMs, ino } = stats;
  const latest = Math.max(mtimeMs, ctimeMs);
  if (latest > since - (Number.isInteger(latest / 1_000) ? COARSE_TICK_MS : TICK_MS)) return UNSAFE;
  const size = stats.isDirectory() ? 0 : stats.size;
  // Most files have one time, and to print it takes longer than to ask for it.
  return mtimeMs === ctimeMs ? `${mtimeMs} ${size} ${ino}` : `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

/** Sources count as the same with other line ends, generated files do not. */
export type TextHash = (text: string) => string;

/** Hash of a file's text; '' for a folder. */
export function hashOf(path: string, hash: TextHash): string {
  return statSync(path).isDirectory() ? '' : hash(readFileSync(path, 'utf8'));
}
