import type {
  ActionSchema,
  EventSchema,
  HandlerSchema,
  MigrationFile,
  ModelSchema,
  RepositorySchema,
  SagaSchema,
} from '../schema/project-schema.js';

/** The declarations of a project. */
export interface Found {
  readonly models: ModelSchema[];
  readonly refusedModels: string[];
  readonly events: EventSchema[];
  readonly actions: ActionSchema[];
  readonly handlers: HandlerSchema[];
  readonly sagas: SagaSchema[];
  readonly repositories: RepositorySchema[];
  readonly migrations: MigrationFile[];
}

/** Returns an empty result. */
export function nothingFound(): Found {
  return {
    models: [],
    refusedModels: [],
    events: [],
    actions: [],
    handlers: [],
    sagas: [],
    repositories: [],
    migrations: [],
  };
}
