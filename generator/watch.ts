import type { Found } from './read/found.js';
import { type Changes, type MemoryOptions, ReadMemory } from './read/read-memory.js';
import type { ResultsStore } from './read/stored-found.js';
import { LostResultError, printResults, type ResultsKey, restoreResults } from './read/stored-results.js';
import { type ResultTexts, StoredTypes } from './read/stored-types.js';
import { isIdenticalResult } from './read/unchanged-results.js';
import { PrintedTexts } from './schema/printed-texts.js';

export { LostResultError, type ResultsKey } from './read/stored-results.js';
export type { ResultTexts } from './read/stored-types.js';

/** Results of one run for the next run, in the same process or in another. */
export class RunMemory {
  readonly read: ReadMemory;
  readonly printed: PrintedTexts = new PrintedTexts();
  #emitted: string | undefined;
  #outputs: readonly string[] | undefined;

  constructor(options: MemoryOptions = {}) {
    this.read = new ReadMemory(options);
  }

  /**
   * Forgets the results that depend on changed files, including new and deleted files.
   * @param files project-relative
   */
  forget(files: readonly string[]): void {
    this.read.forget(files);
  }

  /** Restores the results of another process. @returns false if the list is not the output of `print` for this key */
  restore(list: string, key: ResultsKey, texts: ResultTexts): boolean {
    return restoreResults(this.read, list, key, this.#store(texts));
  }

  /** Prints the results so that another process can restore them. */
  print(key: ResultsKey, texts: ResultTexts): string {
    return printResults(this.read, key, this.#store(texts));
  }

  #store(texts: ResultTexts): ResultsStore {
    return { texts, types: new StoredTypes(texts), printed: this.printed };
  }

  /** Files whose results here differ from the results of a memory that has just read them. */
  contradictions(fresh: RunMemory): readonly string[] {
    return [...this.read.results.keys()].filter((file) => {
      const found = fresh.read.resultOf(file)?.found;
      return found !== undefined && this.#contradicts(file, found);
    });
  }

  /** A missing result is no contradiction, because the file would be read again. */
  #contradicts(file: string, found: Partial<Found>): boolean {
    try {
      const known = this.read.resultOf(file)?.found;
      return known !== undefined && !isIdenticalResult(known, found);
    } catch (error) {
      if (error instanceof LostResultError) return false;
      throw error;
    }
  }

  /**
   * Records that the output on disk is up to date with the results at that time.
   * @param emitted the value of `emitted` at that time
   */
  confirmOutputs(outputs: readonly string[], emitted: string): void {
    this.#outputs = outputs;
    this.#emitted = emitted;
  }

  /** Records that the output on disk may have changed. */
  invalidateOutputs(): void {
    this.#outputs = undefined;
  }

  /**
   * The part of the output that is up to date, if the files on disk are unchanged and this key is the key of the last
   * emission.
   */
  rightOutput(key: string): RightOutput | undefined {
    if (this.#outputs === undefined || key !== this.#emitted) return undefined;
    return { paths: this.#outputs, changed: this.read.changes };
  }

  /** The sources were emitted under this key. The files on disk may change at any time afterwards. */
  settle(key: string, outline: string): void {
    this.#emitted = key;
    this.#outputs = undefined;
    this.read.settle(outline);
  }

  /** What the last output depended on besides sources; undefined if there was no emission. */
  get emitted(): string | undefined {
    return this.#emitted;
  }
}

/** Output that is unchanged on disk since its emission. */
export interface RightOutput {
  /** All of its files. */
  readonly paths: readonly string[];
  /** What later reads of the sources changed. */
  readonly changed: Changes;
}
