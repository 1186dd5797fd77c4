import { contentHash } from '../content-hash.js';
import { compareText } from '../diagnostics.js';
import type { ActionSchema, ModelSchema } from '../schema/project-schema.js';
import type { Found, ReadFindings } from './found.js';
import { migrationAsWritten } from './migration-files.js';
import type { SourceFiles } from './source-files.js';
import { changedModels, isSameResult } from './unchanged-results.js';

/** The result of reading one file. Kinds of declarations that the file does not contain are undefined. */
export interface FileResult extends ReadFindings {
  readonly found: Partial<Found>;
  /** Places of its actions that stage more than once, see `stagingPlaces`. */
  readonly stagingPlaces: readonly string[];
  /** Files to whose declarations it adds members, see `augmentationsIn`. */
  readonly augments: readonly string[];
}

/** Returns the places of actions that stage more than once. Other actions cannot stage on two shards. */
export function stagingPlaces({ actions = [] }: Partial<Found>): readonly string[] {
  return actions.filter(({ stagingCalls }) => stagingCalls > 1).map(placeOf);
}

/** Returns a unique text for an action. */
export function placeOf({ file, className }: ActionSchema): string {
  return `${file}#${className}`;
}

/** Changes since the last emission: models (possibly none) whose changes affect no other declaration, or `more`. */
export type Changes = readonly ModelSchema[] | 'more';

/** Whether nothing has changed. */
export function isNothing(changes: Changes): boolean {
  return changes !== 'more' && changes.length === 0;
}

/** Options of a memory. */
export interface MemoryOptions {
  /** Whether another process will restore the memory, which requires hashes of the files. Default: true. */
  readonly isKept?: boolean;
}

/** Results of unchanged files, from this run, earlier runs or another process. */
export class ReadMemory {
  /** Parsed sources; undefined until a run needs them. */
  sources: SourceFiles | undefined;
  readonly #results = new Map<string, FileResult>();
  /** Results at the last emission of files that were read again since; undefined for a new file. */
  readonly #before = new Map<string, FileResult | undefined>();
  /** Files to which each file adds members. Kept while results are forgotten. */
  readonly #augments = new Map<string, readonly string[]>();
  #outline: string | undefined;
  readonly #hashes = new Map<string, string>();
  /** Analyses of actions that might stage on two shards, by place. */
  readonly #shardFindings = new Map<string, ReadFindings>();
  #shardFindingsFor = '';

  readonly #isKept: boolean;

  constructor({ isKept = true }: MemoryOptions = {}) {
    this.#isKept = isKept;
  }

  resultOf(file: string): FileResult | undefined {
    return this.#results.get(file);
  }

  /** Stores a result of this run. */
  remember(file: string, result: FileResult): void {
    if (!this.#before.has(file)) this.#before.set(file, this.#results.get(file));
    this.restore(file, result);
  }

  /** Restores the result of an earlier process as the result of the last emission. */
  restore(file: string, result: FileResult): void {
    this.#results.set(file, result);
    if (result.augments.length > 0) this.#augments.set(file, result.augments);
    else this.#augments.delete(file);
  }

  /** Records a file that the generator has written and will read: a lock or a migration. */
  rememberWritten(file: string, text: string): void {
    if (this.#isKept) this.#hashes.set(file, contentHash(text));
    const migration = migrationAsWritten(file, text);
    if (migration === undefined) return;
    const findings = { diagnostics: [], syntaxErrors: [], requested: [file] };
    this.restore(file, { ...findings, found: { migrations: [migration] }, stagingPlaces: [], augments: [] });
  }

  /** All results, in no particular order. */
  get results(): ReadonlyMap<string, FileResult> {
    return this.#results;
  }

  /**
   * Number of files that were forgotten or read since the last emission. One changed file may cause many files to be
   * read again.
   */
  get staleFiles(): number {
    return this.#before.size;
  }

  /** Changes since the last emission in all files that were read again. */
  get changes(): Changes {
    const changed: ModelSchema[] = [];
    for (const [file, before] of this.#before) {
      const models = changedModels(before?.found ?? {}, this.#results.get(file)?.found ?? {});
      if (models === undefined) return 'more';
      changed.push(...models);
    }
    return changed;
  }

  /** Files that add members to declarations of a file, by that file. */
  get augmenters(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>();
    for (const [file, targets] of this.#augments) {
      for (const target of targets) found.set(target, [...(found.get(target) ?? []), file]);
    }
    for (const files of found.values()) files.sort(compareText);
    return found;
  }

  /** Forgets results that depend on a file with augmentations, but were read without them. */
  forgetUnaugmented(): void {
    const { augmenters } = this;
    if (augmenters.size === 0) return;
    for (const [file, result] of this.#results) {
      const requested = new Set(result.requested);
      const isWhole = [...augmenters].every(
        ([target, files]) => !requested.has(target) || files.every((each) => requested.has(each)),
      );
      if (!isWhole) this.#forgetResult(file, result);
    }
  }

  /** Files that were read since the last emission. */
  get newFiles(): readonly string[] {
    return [...this.#before.keys()].filter((file) => this.#results.has(file));
  }

  /** Files whose result has changed since the last emission. */
  get changedFiles(): ReadonlySet<string> {
    const files = [...this.#before].filter(
      ([file, before]) => !isSameResult(before?.found ?? {}, this.#results.get(file)?.found ?? {}),
    );
    return new Set(files.map(([file]) => file));
  }

  /** The outline of models and repositories at the last emission, from `printOutline`. */
  get outline(): string | undefined {
    return this.#outline;
  }

  /** Records that the current results have been emitted. */
  settle(outline: string): void {
    this.#before.clear();
    this.#outline = outline;
  }

  /**
   * Records the text that a file had, undefined for a missing file. A file with two texts in one run is unstable, and
   * never counts as known.
   *
   * @param file project-relative
   */
  noteText(file: string, text: string | undefined): void {
    if (!this.#isKept) return;
    const hash = text === undefined ? '' : contentHash(text);
    const known = this.#hashes.get(file);
    this.#hashes.set(file, known === undefined || known === hash ? hash : UNSTABLE);
  }

  /** Returns the hash of the text that a file was read with; undefined if this process has not read it. */
  hashOf(file: string): string | undefined {
    return this.#hashes.get(file);
  }

  /**
   * Returns the shard analyses that are still valid.
   *
   * @param outline of the project. An analysis depends on nothing else, so another outline removes all analyses
   */
  shardFindings(outline: string): Map<string, ReadFindings> {
    if (this.#shardFindingsFor !== outline) this.#shardFindings.clear();
    this.#shardFindingsFor = outline;
    return this.#shardFindings;
  }

  /** The latest shard analyses, by place. */
  get lastShardFindings(): ReadonlyMap<string, ReadFindings> {
    return this.#shardFindings;
  }

  /** Restores the outline and the shard analyses of an earlier process. */
  restoreOutline(outline: string, findings: ReadonlyMap<string, ReadFindings>): void {
    this.#outline = outline;
    this.#shardFindingsFor = outline;
    for (const [place, each] of findings) this.#shardFindings.set(place, each);
  }

  /** Forgets the results that depend on these files, including new and deleted files. */
  forget(files: readonly string[]): void {
    const changed = new Set(files);
    this.sources?.forget(changed);
    for (const file of changed) {
      this.#hashes.delete(file);
      this.#augments.delete(file);
    }
    for (const [place, { requested }] of this.#shardFindings) {
      if (meet(requested, changed)) this.#shardFindings.delete(place);
    }
    for (const [file, result] of this.#results) {
      if (meet(result.requested, changed)) this.#forgetResult(file, result);
    }
  }

  #forgetResult(file: string, result: FileResult): void {
    if (!this.#before.has(file)) this.#before.set(file, result);
    this.#results.delete(file);
  }
}

/** No text has this hash. */
const UNSTABLE = '!';

function meet(some: Iterable<string>, others: ReadonlySet<string>): boolean {
  for (const each of some) if (others.has(each)) return true;
  return false;
}
