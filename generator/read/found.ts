import type { ProjectSchema } from '../schema/project-schema.js';

/** The declarations of a project, as far as they are read. */
export type Found = { readonly [Kind in keyof ProjectSchema]: ProjectSchema[Kind][number][] };

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
