// Loaded before anything else, and often instead of everything else: it imports nothing but what Node.js has loaded.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * What a run that found everything right leaves behind: the state of all it looked at. While the system reports the
 * same state (times, size, file number), the files hold the same text, and the answer is the same.
 */
interface CacheRecord {
  readonly format: 1;
  /** State of this program itself. */
  readonly program: string;
  /** State of files and folders by path from the configuration's folder; '' where there must be nothing. */
  readonly states: Readonly<Record<string, string>>;
  /** Environment variables that the configuration names, and whether they are set. */
  readonly environment: Readonly<Record<string, boolean>>;
  /** Number of files of the output. */
  readonly files: number;
}

const FOLDER_NAME = '.fw-cache';
const FILE_NAME = 'state.json';
/** Clocks of file systems tick: what changed so shortly before a run may change again without a trace. */
const TICK_MS = 50;
const COARSE_TICK_MS = 2_500;

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
  const config = resolve(configFile);
  const folder = dirname(config);
  try {
    // A guess where the output is; whether it is right, the record says.
    const output = /\boutput:[ \t]*["']?([^"'\s,}#]+)/.exec(readFileSync(config, 'utf8'))?.[1];
    if (output === undefined) return undefined;
    const text = readFileSync(join(resolve(folder, output), FOLDER_NAME, FILE_NAME), 'utf8');
    const record: CacheRecord = JSON.parse(text);
    return isValid(record, folder) ? record.files : undefined;
  } catch {
    // No record, or none that can be read: the run makes another.
    return undefined;
  }
}

function isValid(record: CacheRecord, folder: string): boolean {
  if (record.format !== 1 || record.program !== programState()) return false;
  for (const name in record.environment) {
    if (record.environment[name] !== (process.env[name] !== undefined)) return false;
  }
  for (const path in record.states) {
    if (record.states[path] !== stateOf(join(folder, path))) return false;
  }
  return true;
}

/** What a run looked at. */
export interface RunTrace {
  readonly configFile: string;
  readonly outputDirectory: string;
  /** Files and folders whose state decides the result, project-relative; missing ones included. */
  readonly inputs: Iterable<string>;
  /** Emitted files and what belongs to them, project-relative. */
  readonly outputs: readonly string[];
  /** Number of files to be named in the answer. */
  readonly files: number;
  /** When the run began, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** Remembers that everything is right, unless something changed too shortly before, or during, the run. */
export function rememberRun(trace: RunTrace): void {
  const record = recordOf(trace);
  const cache = join(trace.outputDirectory, FOLDER_NAME);
  const temporary = join(cache, `${FILE_NAME}.${process.pid}.tmp`);
  try {
    if (record === undefined) {
      rmSync(join(cache, FILE_NAME), { force: true });
      return;
    }
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, '.gitignore'), '*\n');
    writeFileSync(temporary, JSON.stringify(record));
    renameSync(temporary, join(cache, FILE_NAME));
  } catch {
    // Without a record the next run takes longer: no reason to fail this one.
    rmSync(temporary, { force: true });
  }
}

function recordOf({ configFile, inputs, outputs, startedAt, files }: RunTrace): CacheRecord | undefined {
  const folder = dirname(resolve(configFile));
  const environment = environmentOf(readFileSync(configFile, 'utf8'));
  if (environment === undefined) return undefined;
  const states: Record<string, string> = {};
  for (const path of inputs) {
    const absolute = join(folder, path);
    if (changedTooLately(absolute, startedAt)) return undefined;
    states[path] = stateOf(absolute);
  }
  for (const path of outputs) states[path] = stateOf(join(folder, path));
  return { format: 1, program: programState(), states, environment, files };
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

function changedTooLately(path: string, startedAt: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  const latest = Math.max(stats.mtimeMs, stats.ctimeMs);
  return latest > startedAt - (Number.isInteger(latest / 1_000) ? COARSE_TICK_MS : TICK_MS);
}

function programState(): string {
  return stateOf(fileURLToPath(import.meta.url));
}

function stateOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return '';
  const size = stats.isDirectory() ? 0 : stats.size;
  return `${stats.mtimeMs} ${stats.ctimeMs} ${size} ${stats.ino}`;
}
