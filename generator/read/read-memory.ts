import { contentHash } from '../content-hash.js';
import type { Diagnostic } from '../diagnostics.js';
import type {
  ActionSchema,
  EventSchema,
  HandlerSchema,
  MigrationFile,
  ModelSchema,
  RepositorySchema,
  SagaSchema,
} from '../schema/project-schema.js';
import { isSameFound } from './same-found.js';
import type { SourceFiles } from './source-files.js';

/** Everything that one file, or a whole project, declares. */
export interface Found {
  readonly models: ModelSchema[];
  readonly events: EventSchema[];
  readonly actions: ActionSchema[];
  readonly handlers: HandlerSchema[];
  readonly sagas: SagaSchema[];
  readonly repositories: RepositorySchema[];
  readonly migrations: MigrationFile[];
}

/** What one look gave, and every file that was asked for on the way, whether it exists or not. */
export interface Look {
  readonly diagnostics: readonly Diagnostic[];
  /** Of the file itself and of those that it led to. */
  readonly syntaxErrors: readonly Diagnostic[];
  readonly asked: ReadonlySet<string>;
}

/** What reading one file gave. Kinds that it has nothing of are absent. */
export interface FileResult extends Look {
  readonly found: Partial<Found>;
}

/** Nothing yet. */
export function nothingFound(): Found {
  return { models: [], events: [], actions: [], handlers: [], sagas: [], repositories: [], migrations: [] };
}

/** What was read from files that did not change since, by this run, by earlier ones, or by another process. */
export class ReadMemory {
  /** Parsed sources, once a run needed them. */
  sources: SourceFiles | undefined;
  readonly #results = new Map<string, FileResult>();
  /** What files that were read anew gave when something was emitted last. */
  readonly #before = new Map<string, Partial<Found>>();
  readonly #hashes = new Map<string, string>();
  /** Looks at actions that might stage on two shards, by place. */
  readonly #shardLooks = new Map<string, Look>();
  #shardLooksFor = '';

  resultOf(file: string): FileResult | undefined {
    return this.#results.get(file);
  }

  /** Keeps what this run read. */
  remember(file: string, result: FileResult): void {
    if (!this.#before.has(file)) this.#before.set(file, this.#results.get(file)?.found ?? {});
    this.#results.set(file, result);
  }

  /** Takes over what an earlier process read, which is what was emitted then. */
  restore(file: string, result: FileResult): void {
    this.#results.set(file, result);
  }

  /** Every result, in no particular order. */
  get results(): ReadonlyMap<string, FileResult> {
    return this.#results;
  }

  /** True if all that was read anew found what was there when something was emitted last. */
  get isAsEmitted(): boolean {
    for (const [file, found] of this.#before) {
      if (!isSameFound(found, this.#results.get(file)?.found ?? {})) return false;
    }
    return true;
  }

  /** What was read has been emitted. */
  settle(): void {
    this.#before.clear();
  }

  /**
   * Notes the text that a file had, undefined for none. One that has two in one run is never taken for known.
   *
   * @param file project-relative
   */
  noteText(file: string, text: string | undefined): void {
    const hash = text === undefined ? '' : contentHash(text);
    const known = this.#hashes.get(file);
    this.#hashes.set(file, known === undefined || known === hash ? hash : UNSTABLE);
  }

  /** Hash of the text that a file was read with; undefined if it was not read by this process. */
  hashOf(file: string): string | undefined {
    return this.#hashes.get(file);
  }

  /**
   * Looks at the shards of actions that still hold.
   *
   * @param models all that such a look takes from the rest of the project: looks made for another text are forgotten
   */
  shardLooks(models: string): Map<string, Look> {
    if (this.#shardLooksFor !== models) this.#shardLooks.clear();
    this.#shardLooksFor = models;
    return this.#shardLooks;
  }

  /** The same with the text that they were made for. */
  get allShardLooks(): { readonly models: string; readonly byPlace: ReadonlyMap<string, Look> } {
    return { models: this.#shardLooksFor, byPlace: this.#shardLooks };
  }

  restoreShardLooks(models: string, looks: ReadonlyMap<string, Look>): void {
    this.#shardLooksFor = models;
    for (const [place, look] of looks) this.#shardLooks.set(place, look);
  }

  /** Forgets what these files, new and vanished ones included, had a part in. */
  forget(files: readonly string[]): void {
    const changed = new Set(files);
    this.sources?.forget(changed);
    for (const file of changed) this.#hashes.delete(file);
    for (const [place, { asked }] of this.#shardLooks) {
      if (meet(asked, changed)) this.#shardLooks.delete(place);
    }
    for (const [file, result] of this.#results) {
      if (!meet(result.asked, changed)) continue;
      if (!this.#before.has(file)) this.#before.set(file, result.found);
      this.#results.delete(file);
    }
  }
}

/** No text has this hash. */
const UNSTABLE = '!';

function meet(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const each of some) if (others.has(each)) return true;
  return false;
}
