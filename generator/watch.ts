import { EmitMemory } from './emit/emit-memory.js';
import { ReadMemory } from './read/read-memory.js';
import { isIdenticalFound } from './read/same-found.js';
import { printResults, type ResultsKey, restoreResults } from './read/stored-results.js';
import type { EmittedFiles } from './schema/emitted-files.js';

export type { ResultsKey } from './read/stored-results.js';

/** What one run leaves behind for the next one, in the same process or in another. */
export class RunMemory {
  readonly read: ReadMemory = new ReadMemory();
  readonly emit: EmitMemory = new EmitMemory();
  #emitted: string | undefined;
  #outputs: readonly string[] | undefined;
  #files: EmittedFiles | undefined;

  /** Forgets what changed files, new and vanished ones included, had a part in. @param files project-relative */
  forget(files: readonly string[]): void {
    this.read.forget(files);
  }

  /** Takes over what another process read. @returns false if the text is not what `print` gave for this key */
  restore(text: string, key: ResultsKey): boolean {
    return restoreResults(this.read, text, key);
  }

  /** What another process can take over. */
  print(key: ResultsKey): string {
    return printResults(this.read, key);
  }

  /** Files of which this memory holds something else than one that read them just now. */
  contradictions(fresh: RunMemory): readonly string[] {
    return [...this.read.results.keys()].filter((file) => {
      const found = fresh.read.resultOf(file)?.found;
      const known = this.read.resultOf(file)?.found;
      return found !== undefined && known !== undefined && !isIdenticalFound(known, found);
    });
  }

  /** Says that files are as they were written for what was read by then. @param emitted what `emitted` was then */
  vouchFor(outputs: readonly string[], emitted: string): void {
    this.#outputs = outputs;
    this.#emitted = emitted;
  }

  /** The output, if it is as written, and what was read now gives the same under this key. */
  outputsFor(key: string): readonly string[] | undefined {
    return key === this.#emitted && this.read.isAsEmitted ? this.#outputs : undefined;
  }

  /** What this process emitted last, if what was read now gives the same under this key. */
  filesFor(key: string): EmittedFiles | undefined {
    return key === this.#emitted && this.read.isAsEmitted ? this.#files : undefined;
  }

  /** What was read has been emitted under this key. Whether it stays on the disk as it is, nobody knows. */
  settle(key: string, files: EmittedFiles): void {
    this.#emitted = key;
    this.#files = files;
    this.#outputs = undefined;
    this.read.settle();
  }

  /** What the output hung on besides sources when it was emitted last; undefined if it never was. */
  get emitted(): string | undefined {
    return this.#emitted;
  }
}
