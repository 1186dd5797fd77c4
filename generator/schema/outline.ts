import type { ModelSchema, ProjectSchema, RepositorySchema } from './project-schema.js';

/**
 * What other declarations can see of a model: all but its body, which is its fields, columns, states and comments.
 * Which fields make a key, its repositories can see.
 */
export type ModelHead = Pick<ModelSchema, 'name' | 'file' | 'kind' | 'sharded'> & {
  /** The table name from its decorator. */
  readonly table?: string;
  /** Fields of its natural keys. */
  readonly keys?: readonly (readonly string[])[];
};

/** The part of a project that the checks of one model, and the files emitted for one model, depend on. */
export interface Outline {
  readonly models: readonly ModelHead[];
  readonly repositories: readonly RepositoryHead[];
}

type RepositoryHead = Omit<RepositorySchema, 'location'>;

/** The outline of a project. */
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
 * Whether ids of every model that was there before, and is there now, carry a shard or carry none as before. What names
 * a model that came or went is read again with it.
 */
export function hasSameIds(before: string | undefined, now: string): boolean {
  if (before === undefined) return false;
  if (before === now) return true;
  const known = new Map(parseOutline(before).models.map(({ name, sharded }) => [name, sharded]));
  return parseOutline(now).models.every(({ name, sharded }) => (known.get(name) ?? sharded) === sharded);
}

/** The part of a model that other declarations can see. */
export function headOf({ name, file, kind, sharded, table, keys }: ModelSchema): ModelHead {
  return {
    ...{ name, file, kind, sharded },
    ...(table === undefined ? {} : { table: table.name }),
    ...(keys === undefined ? {} : { keys: keys.map(({ fields }) => fields.map(({ value }) => value)) }),
  };
}

/**
 * The project that an outline speaks of, as far as some of its models are concerned: these are whole, those that they
 * name have no body, and there is nothing else.
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
