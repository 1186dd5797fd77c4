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
  /** Syntax errors of the file and of the files that reading it required. */
  readonly syntaxErrors: readonly Diagnostic[];
  readonly asked: Iterable<string>;
}

/** Nothing yet. */
export function nothingFound(): Found {
  return { models: [], events: [], actions: [], handlers: [], sagas: [], repositories: [], migrations: [] };
}
