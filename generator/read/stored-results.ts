import { contentHash } from '../content-hash.js';
import type { Found, ReadFindings } from './found.js';
import type { FileResult, ReadMemory } from './read-memory.js';
import { type ResultsStore, restoreFound, storeFound } from './stored-found.js';

const FORMAT = 'fw-gen results 6';

/** The inputs for which a list of stored results is valid. */
export interface ResultsKey {
  /** Identifies the run that stored them. */
  readonly run: string;
  /** Everything that results depend on, except files. */
  readonly setting: string;
}

/** A result of an earlier process cannot be read. The run must restart with an empty memory. */
export class LostResultError extends Error {}

/**
 * Lists results, one line per file with columns between tabs: place of its declarations, places of actions that stage
 * more than once, files to which it adds members, name of the file, names of files that it depends on. The next run
 * reads only declarations that it needs.
 */
export function printResults(memory: ReadMemory, { run, setting }: ResultsKey, store: ResultsStore): string {
  const lines: string[] = [];
  for (const [file, result] of memory.results) lines.push(lineOf(file, result, store));
  for (const [place, { requested }] of memory.lastShardFindings)
    lines.push(printLine([ANALYSIS, '', ''], place, requested));
  const body = [memory.outline ?? '', ...lines].join('\n');
  return [FORMAT, run, setting, contentHash(body), body].join('\n');
}

/** Fills a memory with listed results. @returns false for a damaged list, or one of another run, program or setting */
export function restoreResults(
  memory: ReadMemory,
  list: string,
  { run, setting }: ResultsKey,
  store: ResultsStore,
): boolean {
  const [format, storedRun, storedSetting, hash = ''] = list.split('\n', 4);
  if (format !== FORMAT || storedRun !== run || storedSetting !== setting) return false;
  const body = list.slice([format, run, setting, hash].join('\n').length + 1);
  if (contentHash(body) !== hash) return false;
  const [outline = '', ...lines] = body.split('\n');
  const findings = new Map<string, ReadFindings>();
  for (const line of lines) {
    const result = new StoredResult(store, line);
    const [name = '', ...others] = result.requested;
    if (result.place === ANALYSIS) findings.set(name, { ...NO_MISTAKES, requested: others });
    else memory.restore(name, result);
  }
  memory.restoreOutline(outline, findings);
  store.printed.printFor(outline);
  return true;
}

/** Marks a line with the shard analysis of an action, in the column of the place. */
const ANALYSIS = '-';

/** Only runs without a mistake store results. */
const NO_MISTAKES = { diagnostics: [], syntaxErrors: [] } as const;

/** A result of another process. */
class StoredResult implements FileResult {
  readonly diagnostics: ReadFindings['diagnostics'] = NO_MISTAKES.diagnostics;
  readonly syntaxErrors: ReadFindings['syntaxErrors'] = NO_MISTAKES.syntaxErrors;
  readonly store: ResultsStore;
  readonly line: string;
  /** The key under which the result is stored. */
  readonly place: string;
  /** Requested files. The first one is the file itself. */
  readonly requested: readonly string[];
  readonly #staging: string;
  readonly #augments: string;
  #found: Partial<Found> | undefined;

  constructor(store: ResultsStore, line: string) {
    this.store = store;
    this.line = line;
    const [place = '', staging = '', augments = '', ...names] = line.split('\t');
    this.place = place;
    this.requested = line.includes('"') ? names.map(unescapeName) : names;
    this.#staging = staging;
    this.#augments = augments;
  }

  get stagingPlaces(): readonly string[] {
    return parseNames(this.#staging);
  }

  get augments(): readonly string[] {
    return parseNames(this.#augments);
  }

  get found(): Partial<Found> {
    this.#found ??= restoreFound(this.place, this.store);
    return this.#found;
  }
}

const NO_NAMES: readonly string[] = [];

/** Returns '' for an empty list, because most lists are empty. */
function printNames(names: readonly string[]): string {
  return names.length === 0 ? '' : JSON.stringify(names);
}

function parseNames(text: string): readonly string[] {
  return text === '' ? NO_NAMES : JSON.parse(text);
}

function lineOf(file: string, result: FileResult, store: ResultsStore): string {
  // A stored result keeps its place if its texts are in this store.
  if (result instanceof StoredResult && result.store.texts === store.texts && !store.printed.areAllNew)
    return result.line;
  const others = [...result.requested].filter((each) => each !== file);
  const columns = [
    storeFound(result.found, store),
    printNames(result.stagingPlaces),
    printNames(result.augments),
  ];
  return printLine(columns, file, others);
}

function printLine(columns: readonly string[], name: string, others: Iterable<string>): string {
  return [...columns, escapeName(name), ...Array.from(others, escapeName)].join('\t');
}

/** Escapes line ends and tabs in a name, because they separate lines and columns. Most names contain neither. */
function escapeName(name: string): string {
  return name.startsWith('"') || /[\n\t]/.test(name) ? JSON.stringify(name) : name;
}

function unescapeName(text: string): string {
  if (!text.startsWith('"')) return text;
  const name: unknown = JSON.parse(text);
  return String(name);
}
