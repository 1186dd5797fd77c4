// Loaded first, and often instead of everything else, so it imports only modules that Node.js has already loaded.
import { readFileSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contentHash, exactHash } from '../generator/content-hash.js';
import type { TextsFile } from './stored-texts.js';

/**
 * The state of a file when a run read it: its state (times, size, file number) and the hash of its text. While the
 * system reports the same state, it holds the same text. An ambiguous state is '?': then only the text counts. Both are
 * '' for a missing file; a folder has no text.
 */
export type Fingerprint = readonly [state: string, text: string];

/** The record of a run that found everything current. */
export interface RunRecord {
  readonly format: 3;
  /** State of this program itself. */
  readonly program: string;
  /** Identifies the run. Its parsed results are in a separate file with this name. */
  readonly run: string;
  /** Hash of all inputs of the output except the sources. */
  readonly emitted: string;
  /** Files and folders whose content determines the result, by path from the configuration's folder. */
  readonly inputs: Readonly<Record<string, Fingerprint>>;
  readonly outputs: Readonly<Record<string, Fingerprint>>;
  /** Environment variables that the configuration names, and whether they are set. */
  readonly environment: Readonly<Record<string, boolean>>;
  /** Number of files of the output. */
  readonly files: number;
  /** The generator settings of the configuration, with paths relative to its folder. */
  readonly settings: Settings;
  /** Where the texts of the run's results are stored. */
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
/** File of the record. */
export const FILE_NAME = 'state.json';
/**
 * Timestamps of file systems have a limited resolution: a file that changed within this time may change again without a
 * new timestamp.
 */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_500;
/** Size of a record of thousands of files, in bytes. */
const LARGE = 300_000;
const QUIETLY = { throwIfNoEntry: false } as const;
/** The state of a file whose timestamp is ambiguous: its text decides. */
export const UNSAFE = '?';

/**
 * Number of files of the output if all of it is known to be current; otherwise the recollection, for the run that must
 * decide.
 *
 * @param onLarge called before thousands of files are read
 */
export function filesUpToDate(configFile: string, onLarge?: () => void): number | Recollection | undefined {
  const found = recollect(configFile, onLarge);
  if (found === undefined) return undefined;
  const { record, changed, isOutputIntact, isRefreshed, isReconfigured, cache } = found;
  if (changed.length > 0 || !isOutputIntact || isReconfigured) return found;
  // Stores the new states of unchanged texts, so that the next run need not read them again.
  if (isRefreshed) keep(cache, record);
  return record.files;
}

/** A record of an earlier run, and the changes of its files since. */
export interface Recollection {
  /** With the current states of files whose texts are unchanged. */
  readonly record: RunRecord;
  /** Inputs with changed content. */
  readonly changed: readonly string[];
  /** Whether the output is as it was written. */
  readonly isOutputIntact: boolean;
  /** Whether states differ from the stored ones. */
  readonly isRefreshed: boolean;
  /** Whether the configuration, or its environment variables, may have changed. */
  readonly isReconfigured: boolean;
  /** Folder of the configuration. */
  readonly folder: string;
  /** Folder of the record. */
  readonly cache: string;
}

/** The record of the last run, with later changes; undefined if there is none that can be used. */
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
    // Not a valid record: the run writes a new one.
    return undefined;
  }
}

interface FoundRecord {
  readonly record: RunRecord;
  /** Folder of the configuration. */
  readonly folder: string;
  /** Folder of the record. */
  readonly cache: string;
}

/** The folder of a configuration's records; undefined if the configuration names no output folder. */
export function cacheFolder(configFile: string): string | undefined {
  const config = resolve(configFile);
  // A guess of the output folder; the record confirms it.
  const output = /\boutput:[ \t]*["']?([^"'\s,}#]+)/.exec(readFileSync(config, 'utf8'))?.[1];
  return output === undefined ? undefined : join(resolve(dirname(config), output), CACHE_FOLDER);
}

function findRecord(configFile: string, onLarge?: () => void): FoundRecord | undefined {
  const cache = cacheFolder(configFile);
  if (cache === undefined) return undefined;
  const text = readFileSync(join(cache, FILE_NAME), 'utf8');
  if (text.length > LARGE) onLarge?.();
  const record: RunRecord = JSON.parse(text);
  // Several configurations may share an output folder: the record belongs to the one for which it was written.
  const isKnown = basename(configFile) in record.inputs;
  const isOurs = record.format === 3 && record.program === programState() && isKnown;
  return isOurs ? { record, folder: dirname(resolve(configFile)), cache } : undefined;
}

function hasEnvironment({ environment }: RunRecord): boolean {
  return Object.keys(environment).every((name) => environment[name] === (process.env[name] !== undefined));
}

interface Compared {
  /** Paths with changed content. */
  readonly changed: readonly string[];
  /** With the current states of files whose texts are unchanged. */
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
    // For thousands of plain paths, `join` would take as long as reading their states.
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
    // The folder may be read-only; the result is correct anyway.
  }
}

/** Concurrent processes each leave a complete file; the last one wins. */
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

/** State of this program itself: of the bundle that contains most of it, else of this file. */
export function programState(): string {
  // This module runs from the bundle's own folder and, for the other commands, from beside the generator.
  const stats =
    statsOf('../bundle/generate.cjs') ??
    statsOf('../generator/bundle/generate.cjs') ??
    statSync(fileURLToPath(import.meta.url));
  return `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`;
}

/**
 * '' for a missing file, '?' for a file that changed so shortly before `since`, or later, that it may change again
 * unnoticed.
 */
export function stateOf(path: string, since: number): string {
  const stats = statSync(path, QUIETLY);
  if (stats === undefined) return '';
  const { mtimeMs, ctimeMs, ino } = stats;
  const latest = Math.max(mtimeMs, ctimeMs);
  if (latest > since - (Number.isInteger(latest / 1_000) ? COARSE_TICK_MS : TICK_MS)) return UNSAFE;
  const size = stats.isDirectory() ? 0 : stats.size;
  // Most files have equal times, and formatting a time takes longer than reading it.
  return mtimeMs === ctimeMs ? `${mtimeMs} ${size} ${ino}` : `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

/** Hashes a text. Sources with different line ends are equal, generated files are not. */
export type TextHash = (text: string) => string;

/** Hash of a file's text; '' for a folder. */
export function hashOf(path: string, hash: TextHash): string {
  return statSync(path).isDirectory() ? '' : hash(readFileSync(path, 'utf8'));
}

function statsOf(path: string): Stats | undefined {
  return statSync(fileURLToPath(new URL(path, import.meta.url)), { throwIfNoEntry: false });
}
