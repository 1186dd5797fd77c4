// Loaded before anything else, and often instead of everything else: it imports nothing but what Node.js has loaded.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contentHash } from '../content-hash.js';

/**
 * What a file was when a run looked at it: its state (times, size, file number) and the hash of its text. While the
 * system reports the same state, it holds the same text. A state that tells too little is '?': then only the text
 * counts. Both are '' where nothing is; a folder has no text.
 */
export type Print = readonly [state: string, text: string];

/** What a run that found everything right leaves behind. */
export interface RunRecord {
  readonly format: 2;
  /** State of this program itself. */
  readonly program: string;
  /** Names the run. What it read stands in a file of its own, under the same name. */
  readonly run: string;
  /** What the output hung on besides sources. */
  readonly emitted: string;
  /** Files and folders whose content decides the result, by path from the configuration's folder. */
  readonly inputs: Readonly<Record<string, Print>>;
  readonly outputs: Readonly<Record<string, Print>>;
  /** Environment variables that the configuration names, and whether they are set. */
  readonly environment: Readonly<Record<string, boolean>>;
  /** Number of files of the output. */
  readonly files: number;
}

/** Folder below the output's. */
const CACHE_FOLDER = '.fw-cache';
const FILE_NAME = 'state.json';
/** Clocks of file systems tick: what changed so shortly before may change again without a trace. */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_500;
const ABANDONED_MS = 60_000;
/** States like no other: it may be any, and the text decides. */
const UNSAFE = '?';

/** What may be answered without a run. */
export interface CacheQuestion {
  readonly config: string;
  readonly check: boolean;
  readonly quiet: boolean;
}

/** A command line that the cache can answer; undefined for any other. */
export function cacheQuestion(argv: readonly string[]): CacheQuestion | undefined {
  if (argv[0] !== 'generate') return undefined;
  let config = 'fw.config.yaml';
  let check = false;
  let quiet = false;
  for (let index = 1; index < argv.length; index += 1) {
    const word = argv[index];
    const value = argv[index + 1];
    if (word === '--check') check = true;
    else if (word === '--quiet') quiet = true;
    else if (word === '--config' && value !== undefined && !value.startsWith('-')) {
      config = value;
      index += 1;
    } else return undefined;
  }
  return { config, check, quiet };
}

/** Number of files of the output if all of it is known to be right; undefined if a run must tell. */
export function filesUpToDate(configFile: string): number | undefined {
  const found = recollect(configFile);
  if (found === undefined || !hasEnvironment(found.record)) return undefined;
  const { record, changed, isOutputIntact, isRefreshed, cache } = found;
  if (changed.length > 0 || !isOutputIntact) {
    recollected = { configFile, found };
    return undefined;
  }
  // The same texts in other states: the next run need not look at them again.
  if (isRefreshed) keep(cache, record);
  return record.files;
}

/** A record of an earlier run and what became of its files since. */
export interface Recollection {
  /** With the states of now where texts are the same. */
  readonly record: RunRecord;
  /** Inputs that hold something else now. */
  readonly changed: readonly string[];
  /** The output is as it was written. */
  readonly isOutputIntact: boolean;
  /** States differ from those that were kept. */
  readonly isRefreshed: boolean;
  /** Where the record lies. */
  readonly cache: string;
}

/** What the question whether all is right found out just now, for the run that follows. */
let recollected: { readonly configFile: string; readonly found: Recollection } | undefined;

/** What the last run left behind, whatever has changed since; undefined if there is nothing that can be used. */
export function recollect(configFile: string): Recollection | undefined {
  const known = recollected;
  recollected = undefined;
  if (known?.configFile === configFile) return known.found;
  try {
    const found = findRecord(configFile);
    if (found === undefined) return undefined;
    const { record, folder, cache } = found;
    const inputs = comparePrints(folder, record.inputs);
    const outputs = comparePrints(folder, record.outputs);
    return {
      record: { ...record, inputs: inputs.prints, outputs: outputs.prints },
      changed: inputs.changed,
      isOutputIntact: outputs.changed.length === 0,
      isRefreshed: inputs.isRefreshed || outputs.isRefreshed,
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

function findRecord(configFile: string): FoundRecord | undefined {
  const cache = cacheFolder(configFile);
  if (cache === undefined) return undefined;
  const record: RunRecord = JSON.parse(readFileSync(join(cache, FILE_NAME), 'utf8'));
  // Several configurations may name one output folder: the record is of the one that it was made for.
  const isKnown = basename(configFile) in record.inputs;
  const isOurs = record.format === 2 && record.program === programState() && isKnown;
  return isOurs ? { record, folder: dirname(resolve(configFile)), cache } : undefined;
}

function hasEnvironment({ environment }: RunRecord): boolean {
  return Object.keys(environment).every((name) => environment[name] === (process.env[name] !== undefined));
}

interface Compared {
  /** Paths whose content is another one. */
  readonly changed: readonly string[];
  /** With states of now where texts are the same. */
  readonly prints: Readonly<Record<string, Print>>;
  readonly isRefreshed: boolean;
}

function comparePrints(folder: string, prints: Readonly<Record<string, Print>>): Compared {
  const now = Date.now();
  const changed: string[] = [];
  const refreshed: Record<string, Print> = {};
  for (const path in prints) {
    const [state, text] = prints[path] ?? [UNSAFE, UNSAFE];
    const present = stateOf(join(folder, path), now);
    if (present !== UNSAFE && present === state) continue;
    if (text === '' || present === '' || hashOf(join(folder, path)) !== text) changed.push(path);
    else if (present !== state) refreshed[path] = [present, text];
  }
  const isRefreshed = Object.keys(refreshed).length > 0;
  return { changed, prints: isRefreshed ? { ...prints, ...refreshed } : prints, isRefreshed };
}

/** What a run looked at. */
export interface RunTrace {
  readonly configFile: string;
  readonly outputDirectory: string;
  /** Names the run. */
  readonly run: string;
  readonly emitted: string;
  /** Files and folders whose state decides the result, project-relative; missing ones included. */
  readonly inputs: Iterable<string>;
  /** Emitted files and what belongs to them, project-relative, with their texts where the run knows them. */
  readonly outputs: ReadonlyMap<string, string | undefined>;
  /** Hash of the text that the run read from a file; undefined if it did not read it. */
  readonly hashOf: (path: string) => string | undefined;
  /** What is known of files that the run had not to look at. */
  readonly known: (kind: 'inputs' | 'outputs', path: string) => Print | undefined;
  /** Number of files to be named in the answer. */
  readonly files: number;
  /** When the run began, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** Remembers that everything is right. @param results what was read, for the next run that finds a change */
export function rememberRun(trace: RunTrace, results: string): void {
  const cache = join(trace.outputDirectory, CACHE_FOLDER);
  try {
    const record = recordOf(trace);
    if (record === undefined) {
      rmSync(join(cache, FILE_NAME), { force: true });
      return;
    }
    mkdirSync(cache, { recursive: true });
    removeLeftovers(cache);
    writeAtomically(cache, '.gitignore', '*\n');
    writeAtomically(cache, RESULTS_NAME, results);
    writeAtomically(cache, FILE_NAME, JSON.stringify(record));
  } catch {
    // Without a record the next run takes longer: no reason to fail this one.
  }
}

const RESULTS_NAME = 'results.txt';

/** What was read by the run of a record, or by another; undefined if nothing is there. */
export function readResults(outputDirectory: string): string | undefined {
  try {
    return readFileSync(join(outputDirectory, CACHE_FOLDER, RESULTS_NAME), 'utf8');
  } catch {
    return undefined;
  }
}

function keep(cache: string, record: RunRecord): void {
  try {
    writeAtomically(cache, FILE_NAME, JSON.stringify(record));
  } catch {
    // A folder that may only be read: the answer is right all the same.
  }
}

/** Two processes at once each leave a whole file, whichever comes last. */
function writeAtomically(folder: string, name: string, text: string): void {
  const temporary = join(folder, `${name}.${process.pid}.tmp`);
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, join(folder, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** What processes that were killed left half written. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.tmp'))) {
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > ABANDONED_MS) rmSync(path, { force: true });
  }
}

function recordOf(trace: RunTrace): RunRecord | undefined {
  const { configFile, run, emitted, files, startedAt } = trace;
  const folder = dirname(resolve(configFile));
  const environment = environmentOf(readFileSync(configFile, 'utf8'));
  if (environment === undefined) return undefined;
  const inputs: Record<string, Print> = {};
  for (const path of trace.inputs) {
    const read = trace.hashOf(path);
    const known = read === undefined ? trace.known('inputs', path) : undefined;
    inputs[path] = known ?? printOf(join(folder, path), read, startedAt);
  }
  const outputs: Record<string, Print> = {};
  for (const [path, text] of trace.outputs) {
    const written = text === undefined ? undefined : contentHash(text);
    const known = written === undefined ? trace.known('outputs', path) : undefined;
    outputs[path] = known ?? printOf(join(folder, path), written, startedAt);
  }
  return { format: 2, program: programState(), run, emitted, inputs, outputs, environment, files };
}

/**
 * What a file is now, with the text that it had for the run: what stands there now may be newer, and then its state is
 * not to be trusted. Without that text (the configuration's, say) it is known only if it did not change since.
 */
function printOf(path: string, text: string | undefined, startedAt: number): Print {
  const state = stateOf(path, startedAt);
  if (state === '') return ['', ''];
  return [state, text ?? (state === UNSAFE ? UNSAFE : hashOf(path))];
}

/** Variables that a configuration names; undefined if its generator section hangs on their values. */
function environmentOf(text: string): Readonly<Record<string, boolean>> | undefined {
  const environment: Record<string, boolean> = {};
  for (const line of text.split('\n')) {
    for (const [, name = ''] of line.matchAll(/\$\{(\w+)/g)) {
      if (/\b(namespace|source|output|migrations|templates|title|version|generator)\b/.test(line))
        return undefined;
      environment[name] = process.env[name] !== undefined;
    }
  }
  return environment;
}

function programState(): string {
  const stats = statSync(fileURLToPath(import.meta.url));
  return `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`;
}

/** '' for nothing, '?' for what changed so shortly before `since`, or later, that it may change again unseen. */
function stateOf(path: string, since: number): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return '';
  const latest = Math.max(stats.mtimeMs, stats.ctimeMs);
  if (latest > since - (Number.isInteger(latest / 1_000) ? COARSE_TICK_MS : TICK_MS)) return UNSAFE;
  const size = stats.isDirectory() ? 0 : stats.size;
  return `${stats.mtimeMs} ${stats.ctimeMs} ${size} ${stats.ino}`;
}

/** '' for a folder. */
function hashOf(path: string): string {
  return statSync(path).isDirectory() ? '' : contentHash(readFileSync(path, 'utf8'));
}
