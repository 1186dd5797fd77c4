import { modelNames } from '../schema/model-names.js';
import { projectIndex } from '../schema/project-index.js';
import type { ActionSchema, EventSchema, MigrationFile, ModelSchema } from '../schema/project-schema.js';
import type { Emission } from './emission.js';
import { modelOfRepository } from './wiring.js';

/** What one file of the application declares. */
export interface Part {
  /** Undefined for the part of everything that belongs to no model. */
  readonly model: ModelSchema | undefined;
  readonly events: readonly EventSchema[];
  readonly actions: readonly ActionSchema[];
  /** Those of its table: which they create, else which they name first. */
  readonly migrations: readonly MigrationFile[];
}

/**
 * Divides an application into parts: one per model, so that branches that add models change different files, and one
 * for what belongs to no model.
 */
export function partsOf(
  emission: Emission,
  migrations: readonly MigrationFile[],
): { readonly ofModels: readonly Part[]; readonly others: Part } {
  const { models, events, actions } = emission.schema;
  const tables = new Map(models.map((model) => [modelNames(model).table, model.name]));
  const actionsOf = groupBy(actions, (action) => ownerOf(emission, action));
  const eventsOf = groupBy(events, ({ model }) => model.name);
  const migrationsOf = groupBy(
    migrations,
    ({ creates, tables: touched = [] }) => tables.get([...creates, ...touched][0] ?? '') ?? '',
  );
  const part = (key: string, model: ModelSchema | undefined): Part => ({
    model,
    events: eventsOf.get(key) ?? [],
    actions: actionsOf.get(key) ?? [],
    migrations: migrationsOf.get(key) ?? [],
  });
  return { ofModels: models.map((model) => part(model.name, model)), others: part('', undefined) };
}

/** Returns the name of an action's model: its result, else that of its first repository, else of its first id. */
function ownerOf(emission: Emission, { result, collaborators, params }: ActionSchema): string {
  const repository = collaborators
    .map(({ wiring }) => ('file' in wiring ? modelOfRepository(emission, wiring) : undefined))
    .find((model) => model !== undefined);
  const ids = params.flatMap(({ type }) => (type.kind === 'id' ? [type.model] : []));
  const candidates = [...(result.kind === 'model' ? [result.model] : []), repository, ...ids];
  const { models } = projectIndex(emission.schema);
  return candidates.find((model) => model !== undefined && models.has(model.name))?.name ?? '';
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
