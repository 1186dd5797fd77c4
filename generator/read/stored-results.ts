import { contentHash } from '../content-hash.js';
import type { FileResult, Found, Look, ReadMemory } from './read-memory.js';

const FORMAT = 'fw-gen results 1';

/** What a text of stored results is good for. */
export interface ResultsKey {
  /** The run that left them behind. */
  readonly run: string;
  /** All that results hang on besides files. */
  readonly setting: string;
}

/**
 * One line per file that was read: its name and those of files that had a part in it, a tab, and what was found. So the
 * next run need not understand what it does not look at, and what it does not change it copies.
 */
export function printResults(memory: ReadMemory, { run, setting }: ResultsKey): string {
  const lines: string[] = [];
  for (const [file, result] of memory.results) lines.push(lineOf(file, result));
  const looks = memory.allShardLooks;
  for (const [place, look] of looks.byPlace) lines.push(`${JSON.stringify([place, ...look.asked])}\t`);
  const body = [JSON.stringify(looks.models), ...lines].join('\n');
  return [FORMAT, run, setting, contentHash(body), body].join('\n');
}

/** Fills a memory with stored results. @returns false for a text of another run, program or setting, or a broken one */
export function restoreResults(memory: ReadMemory, text: string, { run, setting }: ResultsKey): boolean {
  const [format, storedRun, storedSetting, hash = ''] = text.split('\n', 4);
  if (format !== FORMAT || storedRun !== run || storedSetting !== setting) return false;
  const body = text.slice([format, run, setting, hash].join('\n').length + 1);
  if (contentHash(body) !== hash) return false;
  const [models = '""', ...lines] = body.split('\n');
  const looks = new Map<string, Look>();
  for (const line of lines) {
    const tab = line.indexOf('\t');
    const names: readonly string[] = JSON.parse(line.slice(0, tab));
    const [name = ''] = names;
    if (tab < line.length - 1) memory.restore(name, new StoredResult(line, tab, new Set(names)));
    else looks.set(name, { ...NO_MISTAKES, asked: new Set(names.slice(1)) });
  }
  memory.restoreShardLooks(JSON.parse(models), looks);
  return true;
}

/** Only runs without a mistake leave results behind. */
const NO_MISTAKES = { diagnostics: [], syntaxErrors: [] } as const;

/** What another process read. */
class StoredResult implements FileResult {
  readonly diagnostics: Look['diagnostics'] = NO_MISTAKES.diagnostics;
  readonly syntaxErrors: Look['syntaxErrors'] = NO_MISTAKES.syntaxErrors;
  readonly asked: ReadonlySet<string>;
  readonly line: string;
  readonly #tab: number;
  #found: Partial<Found> | undefined;

  constructor(line: string, tab: number, asked: ReadonlySet<string>) {
    this.line = line;
    this.#tab = tab;
    this.asked = asked;
  }

  get found(): Partial<Found> {
    this.#found ??= parseFound(this.line.slice(this.#tab + 1));
    return this.#found;
  }
}

function parseFound(text: string): Partial<Found> {
  return JSON.parse(text);
}

function lineOf(file: string, result: FileResult): string {
  if (result instanceof StoredResult) return result.line;
  const others = [...result.asked].filter((each) => each !== file);
  return `${JSON.stringify([file, ...others])}\t${JSON.stringify(result.found)}`;
}
