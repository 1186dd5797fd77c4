import { durableActions } from '../schema/durable-actions.js';
import type { SourceLocation } from '../schema/location.js';
import type { EventSchema, ProjectSchema } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';

/** A declaration whose stored shape is locked. */
export interface Lockable {
  /** Stable name in stored data. */
  readonly name: string;
  readonly className: string;
  readonly file: string;
  readonly location: SourceLocation;
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
      const { name, file, location, version, upcasters } = event;
      return {
        ...{ name, className: name, file, location, version, upcasters, event },
        // A getter, because a cached run reads few fields.
        get fields() {
          return event.fields;
        },
      };
    }),
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
  subject: (name) => `The params of ${name} have`,
  object: (name) => `the params of ${name}`,
};

export const LOCK_KINDS: readonly LockKind[] = [EVENT_LOCK, PARAMS_LOCK];
