import { memoize } from '../../runtime/collections/memoize.js';
import { modelNames } from './model-names.js';
import type { ModelSchema, ProjectSchema, RepositorySchema } from './project-schema.js';

/** A schema by name. If a name is declared twice, which is a mistake, the first declaration counts. */
export interface ProjectIndex {
  /** By class name. */
  readonly models: ReadonlyMap<string, ModelSchema>;
  /** By `file#name`. */
  readonly modelsByPlace: ReadonlyMap<string, ModelSchema>;
  /** By the name of the default repository. */
  readonly modelsByRepository: ReadonlyMap<string, ModelSchema>;
  /** By `file#name`. */
  readonly repositories: ReadonlyMap<string, RepositorySchema>;
  /** By the name of their model. */
  readonly repositoriesByModel: ReadonlyMap<string, RepositorySchema>;
}

/** Returns the index of a schema, created on first use. */
export const projectIndex: (schema: ProjectSchema) => ProjectIndex = memoize(({ models, repositories }) => ({
  models: indexBy(models, ({ name }) => name),
  modelsByPlace: indexBy(models, placeKey),
  modelsByRepository: indexBy(models, (model) => modelNames(model).repository),
  repositories: indexBy(repositories, placeKey),
  repositoriesByModel: indexBy(repositories, ({ model }) => model.name),
}));

/** Returns a unique text for a declaration. */
export function placeKey({ file, name }: { readonly file: string; readonly name: string }): string {
  return `${file}#${name}`;
}

function indexBy<T>(things: readonly T[], keyOf: (thing: T) => string): ReadonlyMap<string, T> {
  const index = new Map<string, T>();
  for (const thing of things) {
    const key = keyOf(thing);
    if (!index.has(key)) index.set(key, thing);
  }
  return index;
}
