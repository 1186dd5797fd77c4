import type { ModelSchema, ProjectSchema, RepositorySchema } from './project-schema.js';

/**
 * The part of a model that other declarations depend on: everything except fields, columns, states and comments.
 * Includes the fields of its keys, because repositories depend on them.
 */
export type ModelHead = Pick<ModelSchema, 'name' | 'storedName' | 'file' | 'kind' | 'sharded'> & {
  /** The table name from its decorator. */
  readonly table?: string;
  /** Fields of its natural keys. */
  readonly keys?: readonly (readonly string[])[];
};

/** The part of a project that the checks and the emitted file of a single model depend on. */
export interface Outline {
  readonly models: readonly ModelHead[];
  readonly repositories: readonly RepositoryHead[];
}

type RepositoryHead = Omit<RepositorySchema, 'location'>;

/** Returns the outline of a project. */
export function outlineOf({ models, repositories }: ProjectSchema): Outline {
  return {
    models: models.map(headOf),
    repositories: repositories.map(({ name, file, model }) => ({ name, file, model })),
  };
}

/** Prints an outline as text: equal outlines have equal texts. */
export function printOutline(outline: Outline): string {
  return JSON.stringify(outline);
}

/** Parses the output of `printOutline`. */
export function parseOutline(text: string): Outline {
  return JSON.parse(text);
}

/**
 * Whether every model in both outlines has kept its kind of id: with a shard or without. Declarations that refer to an
 * added or removed model are read again in any case.
 */
export function hasSameIds(before: string | undefined, now: string): boolean {
  if (before === undefined) return false;
  if (before === now) return true;
  const known = new Map(parseOutline(before).models.map(({ name, sharded }) => [name, sharded]));
  return parseOutline(now).models.every(({ name, sharded }) => (known.get(name) ?? sharded) === sharded);
}

/** The part of a model that other declarations can see. */
export function headOf({ name, storedName, file, kind, sharded, table, keys }: ModelSchema): ModelHead {
  return {
    ...{ name, file, kind, sharded },
    ...(storedName === undefined ? {} : { storedName }),
    ...(table === undefined ? {} : { table: table.name }),
    ...(keys === undefined ? {} : { keys: keys.map(({ fields }) => fields.map(({ value }) => value)) }),
  };
}

/**
 * Returns the project of an outline for checking some of its models: these are complete, models that they refer to have
 * no fields, and other declarations are missing.
 */
export function schemaAround(models: readonly ModelSchema[], outline: Outline): ProjectSchema {
  const text = JSON.stringify(models);
  const isNamed = ({ name }: { readonly name: string }): boolean => text.includes(JSON.stringify(name));
  const whole = new Map(models.map((model) => [`${model.file}#${model.name}`, model]));
  return {
    models: outline.models
      .filter(isNamed)
      .map((head) => whole.get(`${head.file}#${head.name}`) ?? bodiless(head)),
    repositories: outline.repositories
      .filter(({ model }) => isNamed(model))
      .map((each) => ({ ...each, location: { file: each.file } })),
    events: [],
    actions: [],
    handlers: [],
    sagas: [],
    migrations: [],
  };
}

function bodiless({ table, keys: _, ...head }: ModelHead): ModelSchema {
  const location = { file: head.file };
  return {
    ...head,
    location,
    state: { kind: 'string' },
    fields: [],
    columns: [],
    deletedStates: [],
    ...(table === undefined ? {} : { table: { name: table, location } }),
  };
}
