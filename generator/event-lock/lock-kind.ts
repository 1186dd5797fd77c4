import { durableActions } from '../schema/durable-actions.js';
import type { SourceLocation } from '../schema/location.js';
import type { LockedType } from '../schema/locked-type.js';
import { type ActionSchema, type ProjectSchema, storedNameOf } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';

/** A declaration whose stored shape or name is locked. */
export interface Lockable {
  /** Stable name in stored data. */
  readonly name: string;
  readonly className: string;
  readonly file: string;
  readonly location: SourceLocation;
  /** Earlier names. Their versions are earlier versions of this declaration. */
  readonly aliases?: readonly string[] | undefined;
  /** Stored name of the event's model. */
  readonly model?: string;
  readonly version?: number | undefined;
  readonly upcasters: number | 'uncounted';
  /** Undefined if only the name is locked. */
  readonly fields?: readonly FieldSchema[];
}

/** The declarations that locks depend on. */
export type LockedSchema = Pick<ProjectSchema, 'models' | 'events' | 'actions' | 'handlers' | 'sagas'>;

/** A kind of lock file in the migrations folder. */
export interface LockKind {
  readonly of: LockedType['of'];
  /** Name of the file. It is committed. */
  readonly fileName: string;
  /** Key of the object that contains the shapes. */
  readonly group: 'events' | 'params' | 'names';
  /** Description at the top of the file. */
  readonly about: string;
  readonly lockables: (schema: LockedSchema) => readonly Lockable[];
  /** Names that classes of the project declare besides those of `lockables`. */
  readonly declared?: (schema: LockedSchema) => readonly string[];
  /** Code that gives a renamed class its former name, and where to write it. */
  readonly keep: (name: string) => string;
  /** The declaration, inside a sentence. */
  readonly object: (name: string) => string;
}

/** One lock file as a run found it. */
export interface LockText {
  readonly kind: LockKind;
  /** Project-relative path. */
  readonly path: string;
  /** undefined if the file does not exist. */
  readonly text: string | undefined;
}

const EVENT_LOCK: LockKind = {
  of: 'event',
  fileName: 'events.lock',
  group: 'events',
  about:
    'JSON Schema of every version of every event, so that all stored events stay readable. fw-gen adds new versions. Commit this file.',
  lockables: ({ events }) =>
    events.map((event) => ({
      ...event,
      name: storedNameOf(event),
      className: event.name,
      model: storedNameOf(event.model),
    })),
  keep: (name) => `\`@FwEvent({ name: '${name}' })\` on it`,
  object: (name) => name,
};

const PARAMS_LOCK: LockKind = {
  of: 'params',
  fileName: 'params.lock',
  group: 'params',
  about:
    'JSON Schema of every version of stored params, so that later releases can run scheduled actions. fw-gen adds new versions. Commit this file.',
  lockables: (schema) =>
    durableActions(schema).map(({ params, upcasters = 0, ...action }) => ({
      ...action,
      upcasters,
      fields: params,
    })),
  declared: ({ actions }) => actions.map(({ name }) => name),
  keep: (name) => `\`@FwAction({ name: '${name}' })\` on it`,
  object: (name) => `the params of ${name}`,
};

/**
 * Each with its name after its kind, because a handler and a model may have the same name. Idempotency keys are stored
 * under the name of their action. An action that only a `GET` route runs has none, and `params.lock` has the durable ones.
 */
const NAMES_LOCK: LockKind = {
  of: 'name',
  fileName: 'names.lock',
  group: 'names',
  about:
    'Stored names of handlers, sagas, models and actions, so that what is stored under them is found after a class was renamed. fw-gen adds new names. Commit this file.',
  lockables: ({ handlers, sagas, models, actions }) => [
    ...keyedActions({ actions, sagas }).map((action) => named('action', action)),
    ...handlers.map(({ options, ...handler }) => named('handler', { ...handler, aliases: options.aliases })),
    ...sagas.map((saga) => named('saga', saga)),
    ...models.map((model) => named('model', { ...model, className: model.name, name: storedNameOf(model) })),
  ],
  declared: ({ actions }) => actions.map(({ name }) => `action ${name}`),
  keep: (key) => {
    const [kind = '', name = ''] = key.split(/ (.*)/s);
    if (kind === 'saga') return `\`override readonly name = '${name}';\` in it`;
    return `\`@${DECORATORS[kind]}({ name: '${name}' })\` on it`;
  },
  object: (name) => `the ${name}`,
};

const DECORATORS: Readonly<Record<string, string>> = {
  model: 'AutoBuilder',
  handler: 'FwEventHandler',
  action: 'FwAction',
};

function keyedActions(schema: Pick<LockedSchema, 'actions' | 'sagas'>): readonly ActionSchema[] {
  const durable = new Set(durableActions(schema));
  return schema.actions.filter((action) => action.route?.method !== 'GET' && !durable.has(action));
}

function named(
  kind: string,
  { name, aliases = [], className, file, location }: Omit<Lockable, 'upcasters'>,
): Lockable {
  const [key = name, ...earlier] = [name, ...aliases].map((each) => `${kind} ${each}`);
  return { name: key, aliases: earlier, className, file, location, upcasters: 0 };
}

export const LOCK_KINDS: readonly LockKind[] = [EVENT_LOCK, PARAMS_LOCK, NAMES_LOCK];
