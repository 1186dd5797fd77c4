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

/** The declarations of one file or of a whole project. */
export interface Found {
  readonly models: ModelSchema[];
  readonly events: EventSchema[];
  readonly actions: ActionSchema[];
  readonly handlers: HandlerSchema[];
  readonly sagas: SagaSchema[];
  readonly repositories: RepositorySchema[];
  readonly migrations: MigrationFile[];
}

/** The result of reading a file or analysing an action, with every requested file, whether it exists or not. */
export interface ReadFindings {
  readonly diagnostics: readonly Diagnostic[];
  /** Syntax errors of the file and of the files that reading it required. */
  readonly syntaxErrors: readonly Diagnostic[];
  readonly requested: Iterable<string>;
}

/** Returns an empty result. */
export function nothingFound(): Found {
  return { models: [], events: [], actions: [], handlers: [], sagas: [], repositories: [], migrations: [] };
}
