import { hasSameIds, type Outline, parseOutline } from '../schema/outline.js';
import type { ModelSchema } from '../schema/project-schema.js';
import type { ReadMemory } from './read-memory.js';

/**
 * Finds models whose emitted file is unchanged: models that were not read again or whose result is the same,
 * if the ids and repositories of the project also resolve to the same for them.
 *
 * @param outline of the project as it is now
 */
export function keptModels(memory: ReadMemory, outline: string): (model: ModelSchema) => boolean {
  if (memory.outline === undefined || !hasSameIds(memory.outline, outline)) return () => false;
  const before = rolesIn(parseOutline(memory.outline));
  const now = rolesIn(parseOutline(outline));
  const changed = memory.changedFiles;
  return ({ name, file }) =>
    !changed.has(file) &&
    before.models.has(`${file}#${name}`) &&
    before.withRepository.has(name) === now.withRepository.has(name);
}

interface Roles {
  readonly models: ReadonlySet<string>;
  /** Names of the models that have a repository class. */
  readonly withRepository: ReadonlySet<string>;
}

function rolesIn({ models, repositories }: Outline): Roles {
  return {
    models: new Set(models.map(({ name, file }) => `${file}#${name}`)),
    withRepository: new Set(repositories.map(({ model }) => model.name)),
  };
}
