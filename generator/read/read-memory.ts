import type { Diagnostic } from '../diagnostics.js';
import type {
  ActionSchema,
  EventSchema,
  HandlerSchema,
  ModelSchema,
  RepositorySchema,
} from '../schema/project-schema.js';
import { type Asked, SourceFiles } from './source-files.js';

/** Everything that one file, or a whole project, declares. */
export interface Found {
  readonly models: ModelSchema[];
  readonly events: EventSchema[];
  readonly actions: ActionSchema[];
  readonly handlers: HandlerSchema[];
  readonly repositories: RepositorySchema[];
}

/** What reading one file gave, and every file that was asked for on the way. */
export interface FileResult {
  readonly found: Found;
  readonly diagnostics: readonly Diagnostic[];
  readonly asked: Asked;
}

/** Nothing yet. */
export function nothingFound(): Found {
  return { models: [], events: [], actions: [], handlers: [], repositories: [] };
}

/** What one run leaves behind for the next one: trees, and what was read from files that did not change since. */
export class ReadMemory {
  readonly sources: SourceFiles;
  readonly #results = new Map<string, FileResult>();

  constructor(projectDirectory: string) {
    // Every tree is kept: what a run parses is what changed.
    this.sources = new SourceFiles(projectDirectory, { treeLimit: Number.POSITIVE_INFINITY });
  }

  resultOf(file: string): FileResult | undefined {
    return this.#results.get(file);
  }

  remember(file: string, result: FileResult): void {
    this.#results.set(file, result);
  }

  /** Forgets what these files, new and vanished ones included, had a part in. */
  forget(files: readonly string[]): void {
    this.sources.forget(files);
    for (const [file, { asked }] of this.#results) {
      if (files.some((each) => each === file || asked.files.has(each))) this.#results.delete(file);
    }
  }
}
