import { durableActions } from '../schema/durable-actions.js';
import type { SourceLocation } from '../schema/location.js';
import { type EventSchema, type ProjectSchema, storedNameOf } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';

/** A declaration whose stored shape is locked. */
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
  readonly fields: readonly FieldSchema[];
  /** The event; undefined for params. */
  readonly event?: EventSchema;
}

/** A kind of lock file in the migrations folder. */
export interface LockKind {
  readonly of: 'event' | 'params';
  /** Name of the file. It is committed. */
  readonly fileName: string;
  /** Key of the object that contains the shapes. */
  readonly group: 'events' | 'params';
  /** Description at the top of the file. */
  readonly about: string;
  readonly lockables: (schema: Pick<ProjectSchema, 'events' | 'actions' | 'sagas'>) => readonly Lockable[];
  /** Names that classes of the project declare. */
  readonly declared: (schema: Pick<ProjectSchema, 'events' | 'actions'>) => readonly string[];
  /** The decorator that gives a renamed class its former name. */
  readonly marker: string;
  /** Start of a sentence: `ThingSold has`, `The params of SettleBill have`. */
  readonly subject: (name: string) => string;
  /** Inside a sentence. */
  readonly object: (name: string) => string;
}

export const EVENT_LOCK: LockKind = {
  of: 'event',
  fileName: 'events.lock',
  group: 'events',
  about:
    'JSON Schema of every version of every event, so that all stored events stay readable. fw-gen adds new versions. Commit this file.',
  lockables: ({ events }) =>
    events.map((event) => {
      const { name: className, aliases, file, location, version, upcasters } = event;
      const stored = { name: storedNameOf(event), aliases, model: storedNameOf(event.model) };
      return {
        ...{ ...stored, className, file, location, version, upcasters, event },
        // A getter, because a cached run reads few fields.
        get fields() {
          return event.fields;
        },
      };
    }),
  declared: ({ events }) => events.flatMap((event) => [storedNameOf(event), ...(event.aliases ?? [])]),
  marker: 'FwEvent',
  subject: (name) => `${name} has`,
  object: (name) => name,
};

export const PARAMS_LOCK: LockKind = {
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
  marker: 'FwAction',
  subject: (name) => `The params of ${name} have`,
  object: (name) => `the params of ${name}`,
};

export const LOCK_KINDS: readonly LockKind[] = [EVENT_LOCK, PARAMS_LOCK];
