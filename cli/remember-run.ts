import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { contentHash, exactHash } from '../generator/content-hash.js';
import {
  CACHE_FOLDER,
  FILE_NAME,
  type Fingerprint,
  hashOf,
  programState,
  type RunRecord,
  type Settings,
  stateOf,
  type TextHash,
  UNSAFE,
  writeAtomically,
} from './run-cache.js';
import { removeOtherTexts, type StoredTexts } from './stored-texts.js';

const ABANDONED_MS = 60_000;

/** The files that a run has read. */
export interface RunTrace {
  readonly configFile: string;
  readonly outputDirectory: string;
  /** Identifies the run. */
  readonly run: string;
  readonly emitted: string;
  /** Files and folders that determine the result, project-relative, including missing ones. */
  readonly inputs: Iterable<string>;
  /** Emitted files and related ones, project-relative, with their texts if the run knows them. */
  readonly outputs: ReadonlyMap<string, string | undefined>;
  /** Hash of the text that the run read from a file; undefined if it did not read it. */
  readonly hashOf: (path: string) => string | undefined;
  /** Fingerprints of files that the run did not have to read. */
  readonly known: (kind: 'inputs' | 'outputs', path: string) => Fingerprint | undefined;
  /** Number of files for the message. */
  readonly files: number;
  readonly settings: Settings;
  /** When the run began, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** The parsed results of a run, for later runs. */
export interface RunResults {
  readonly texts: StoredTexts;
  /** Writes texts to storage. @returns the list that refers to them */
  readonly print: (texts: StoredTexts) => string;
}

/** Records that all files are up to date. */
export function rememberRun(trace: RunTrace, { texts, print }: RunResults): void {
  const cache = join(trace.outputDirectory, CACHE_FOLDER);
  try {
    const found = recordOf(trace);
    if (found === undefined) {
      rmSync(join(cache, FILE_NAME), { force: true });
      return;
    }
    mkdirSync(cache, { recursive: true });
    removeLeftovers(cache);
    writeAtomically(cache, '.gitignore', '*\n');
    const list = print(texts);
    const record: RunRecord = { ...found, texts: texts.save() };
    writeAtomically(cache, RESULTS_NAME, list);
    writeAtomically(cache, FILE_NAME, JSON.stringify(record));
    removeOtherTexts(cache, record.texts);
  } catch {
    // Without a record the next run is only slower, which is no reason to fail.
  }
}

const RESULTS_NAME = 'results.txt';

/** Reads the list of results of the last run; undefined if there is none. It may belong to another record. */
export function readResults(outputDirectory: string): string | undefined {
  try {
    return readFileSync(join(outputDirectory, CACHE_FOLDER, RESULTS_NAME), 'utf8');
  } catch {
    return undefined;
  }
}

/** Deletes half-written files of killed processes. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.tmp'))) {
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > ABANDONED_MS) rmSync(path, { force: true });
  }
}

function recordOf(trace: RunTrace): Omit<RunRecord, 'texts'> | undefined {
  const { configFile, run, emitted, files, settings, startedAt } = trace;
  const folder = dirname(resolve(configFile));
  const environment = environmentOf(readFileSync(configFile, 'utf8'));
  if (environment === undefined) return undefined;
  const inputs: Record<string, Fingerprint> = {};
  for (const path of trace.inputs) {
    const read = trace.hashOf(path);
    const known = read === undefined ? trace.known('inputs', path) : undefined;
    inputs[path] = known ?? fingerprintOf(join(folder, path), { text: read, hash: contentHash }, startedAt);
  }
  const outputs: Record<string, Fingerprint> = {};
  for (const [path, text] of trace.outputs) {
    const written = text === undefined ? undefined : exactHash(text);
    const known = written === undefined ? trace.known('outputs', path) : undefined;
    outputs[path] = known ?? fingerprintOf(join(folder, path), { text: written, hash: exactHash }, startedAt);
  }
  return { format: 3, program: programState(), run, emitted, inputs, outputs, environment, files, settings };
}

interface KnownText {
  /** Its hash; undefined if the run did not read or write it. */
  readonly text: string | undefined;
  readonly hash: TextHash;
}

/**
 * Returns the fingerprint of a file with the text that the run read. The file may have changed since the run read it;
 * its state is then not usable. Without such a text (for the configuration, for example), the current text is used if
 * the file has not changed since the start.
 */
function fingerprintOf(path: string, { text, hash }: KnownText, startedAt: number): Fingerprint {
  const state = stateOf(path, startedAt);
  if (state === '') return ['', ''];
  return [state, text ?? (state === UNSAFE ? UNSAFE : hashOf(path, hash))];
}

/** Variables that a configuration names; undefined if its generator section depends on their values. */
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
