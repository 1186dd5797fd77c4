import type { Found } from './read/found.js';
import { type Changes, type MemoryOptions, ReadMemory } from './read/read-memory.js';
import type { ResultTexts } from './read/stored-found.js';
import { LostResultError, printResults, type ResultsKey, restoreResults } from './read/stored-results.js';
import { isIdenticalResult } from './read/unchanged-results.js';
import { FieldTexts } from './schema/field-texts.js';

export type { ResultTexts } from './read/stored-found.js';
export { LostResultError, type ResultsKey } from './read/stored-results.js';

/** What one run leaves behind for the next one, in the same process or in another. */
export class RunMemory {
  readonly read: ReadMemory;
  readonly fields: FieldTexts = new FieldTexts();
  #emitted: string | undefined;
  #outputs: readonly string[] | undefined;

  constructor(options: MemoryOptions = {}) {
    this.read = new ReadMemory(options);
  }

  /** Forgets what changed files, new and vanished ones included, had a part in. @param files project-relative */
  forget(files: readonly string[]): void {
    this.read.forget(files);
  }

  /** Takes over what another process read. @returns false if the list is not what `print` gave for this key */
  restore(list: string, key: ResultsKey, texts: ResultTexts): boolean {
    return restoreResults(this.read, list, key, { texts, fields: this.fields });
  }

  /** What another process can take over. */
  print(key: ResultsKey, texts: ResultTexts): string {
    return printResults(this.read, key, { texts, fields: this.fields });
  }

  /** Files of which this memory holds something else than one that read them just now. */
  contradictions(fresh: RunMemory): readonly string[] {
    return [...this.read.results.keys()].filter((file) => {
      const found = fresh.read.resultOf(file)?.found;
      return found !== undefined && this.#contradicts(file, found);
    });
  }

  /** What is lost would be read again. */
  #contradicts(file: string, found: Partial<Found>): boolean {
    try {
      const known = this.read.resultOf(file)?.found;
      return known !== undefined && !isIdenticalResult(known, found);
    } catch (error) {
      if (error instanceof LostResultError) return false;
      throw error;
    }
  }

  /** Says that files are as they were written for what was read by then. @param emitted what `emitted` was then */
  vouchFor(outputs: readonly string[], emitted: string): void {
    this.#outputs = outputs;
    this.#emitted = emitted;
  }

  /** Says that files may be no longer as they were written. */
  doubtOutputs(): void {
    this.#outputs = undefined;
  }

  /**
   * What of the output is still right, if it is as it was written, and what was read now belongs to this key as well.
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

  /** What the output hung on besides sources when it was emitted last; undefined if it never was. */
  get emitted(): string | undefined {
    return this.#emitted;
  }
}

/** Output that is as it was written for what was read by then. */
export interface RightOutput {
  /** Every file of it. */
  readonly paths: readonly string[];
  /** What has changed since in what was read. */
  readonly changed: Changes;
}
