import { PlanMisuseError, UnknownModelError } from '../errors.js';

import type { ColumnDescriptor, NaturalKey } from './descriptor.js';
import type { Id, ModelClass } from './id.js';
import { isPersisted, type ModelEvent } from './model-event.js';

/** A model class as the runtime uses it; emitted by the generator. */
export interface ModelDescriptor<M extends Entity = Entity> {
  /** Simple name of the class: `model_name` in the outbox. */
  readonly name: string;
  /** `model`: carries events and dates. `entity`: id, state and version only. */
  readonly kind: 'model' | 'entity';
  /** A function, because the class and its builder import each other. */
  readonly modelClass: () => ModelClass<M>;
  readonly table: string;
  /** True if its ids are `ShardedId`s; otherwise its rows live on the default shard. */
  readonly sharded: boolean;
  /** All columns, `id`, `state` and `version` first. */
  readonly columns: readonly ColumnDescriptor[];
  /** States that mean deleted: reads hide such models by default. Default none. */
  readonly deletedStates?: readonly string[];
  /**
   * Natural keys: unique on each shard among the models that are not in a deleted state. `getOrAdd` uses the first.
   * Default none.
   */
  readonly keys?: readonly NaturalKey[];
  /** Whether concurrent actions of one process may start from each other's staged states. Default true. */
  readonly chaining?: boolean;
  /**
   * Whether several changes of one row may be folded into one write, skipping intermediate states. Default: only if the
   * table has no triggers, rules, checks or unique constraints of its own that might refuse an intermediate state.
   */
  readonly folding?: boolean;
}

const NO_EVENTS: readonly ModelEvent<unknown>[] = Object.freeze([]);

/** The descriptor with which this instance was built. @throws UnknownModelError if no builder created it */
export let descriptorOf: (entity: Entity) => ModelDescriptor;

/** Attached events whose rows are not committed yet. */
export let pendingEventsOf: (entity: Entity) => readonly ModelEvent<unknown>[];

/** An instance whose fields are being set. */
export type Draft<M extends Entity> = M & Record<string, unknown>;

/** Identifies a row in this process. */
export function rowKey(modelName: string, id: string): string {
  return `${modelName}/${id}`;
}

/** The key of the row of which an instance is a state; computed once. */
export let rowOf: (entity: Entity) => string;
/** Notes that an instance is a state of the same row as another one, so that the key is not computed again. */
export let noteSameRow: (entity: Entity, other: Entity) => void;

/** Starts an instance: its fields may be set until `finishDraft`. */
export let startDraft: <M extends Entity>(descriptor: ModelDescriptor<M>) => Draft<M>;

/** Marks an instance as stored, or as the state that the store will have when its plan is applied. */
export let markStored: <M extends Entity>(entity: M) => M;

/**
 * The transaction that wrote the row of a stored state (PostgreSQL's `xmin`): the row has changed, by whomever, if it has
 * another one. Undefined: unknown.
 */
export let revisionOf: (entity: Entity) => string | undefined;
/** Notes the transaction that wrote the row of a stored state. */
export let noteRevision: (entity: Entity, revision: string) => void;

/** Marks an instance as a copy of another one. */
export let markCopied: (copy: Entity, source: Entity) => void;

/**
 * The stored state that an instance was copied from, or the instance itself if it is stored; undefined if there is
 * none, or if the copy has another id or version.
 */
export let baseOf: (entity: Entity) => Entity | undefined;

/** Freezes an instance with these events attached. The builder validates it before. */
export let finishDraft: <M extends Entity>(draft: Draft<M>, events: readonly ModelEvent<unknown>[]) => M;

/**
 * Base class of everything that is stored: identified, versioned, with a state, immutable. The generated builder or a
 * repository creates instances, never `new`.
 *
 * @typeParam Self the class itself
 * @typeParam IdType `ShardedId<Self>` or `Id<Self>`
 * @typeParam State its states
 */
export abstract class Entity<
  Self = unknown,
  IdType extends Id<Self> = Id<Self>,
  State extends string = string,
> {
  readonly id!: IdType;
  readonly state!: State;
  /** 1 for a new model; each persisted update adds one. */
  readonly version!: number;

  #descriptor: ModelDescriptor | undefined;
  #pendingEvents: readonly ModelEvent<unknown>[] = NO_EVENTS;
  #row: string | undefined;
  #base: Entity | undefined;
  #revision: string | undefined;

  static {
    rowOf = (entity) => {
      entity.#row ??= rowKey(descriptorOf(entity).name, entity.id.getValue());
      return entity.#row;
    };
    noteSameRow = (entity, other) => {
      entity.#row = other.#row;
    };
    descriptorOf = (entity) => {
      const descriptor = entity.#descriptor;
      if (descriptor === undefined) {
        throw new UnknownModelError(
          `${entity.constructor.name} was not made by its builder; use the builder or a repository`,
        );
      }
      return descriptor;
    };
    pendingEventsOf = (entity) => {
      const events = entity.#pendingEvents;
      if (events.length === 0) return events;
      return events.some(isPersisted) ? events.filter((event) => !isPersisted(event)) : events;
    };
    startDraft = <M extends Entity>(descriptor: ModelDescriptor<M>): Draft<M> => {
      // The constructor defines class fields as undefined, and they are assigned afterwards. So a model needs no
      // constructor of its own, with either setting of `useDefineForClassFields`.
      const ModelConstructor = descriptor.modelClass() as unknown as new () => Draft<M>;
      const draft = new ModelConstructor();
      const entity: Entity = draft;
      if (!(#descriptor in entity)) {
        throw new PlanMisuseError(`${descriptor.name} must extend Model or Entity of this package`);
      }
      entity.#descriptor = descriptor as unknown as ModelDescriptor;
      return draft;
    };
    markStored = <M extends Entity>(entity: M): M => {
      const stored: Entity = entity;
      stored.#base = stored;
      return entity;
    };
    revisionOf = (entity) => entity.#revision;
    noteRevision = (entity, revision) => {
      entity.#revision = revision;
    };
    markCopied = (copy, source) => {
      copy.#base = source.#base;
    };
    baseOf = (entity) => {
      const base = entity.#base;
      if (base === undefined || base === entity) return base;
      const isSame = base.version === entity.version && base.id.getValue() === entity.id.getValue();
      return isSame ? base : undefined;
    };
    finishDraft = <M extends Entity>(draft: Draft<M>, events: readonly ModelEvent<unknown>[]): M => {
      const entity: Entity = draft;
      if (events.length > 0) entity.#pendingEvents = events;
      return Object.freeze(draft);
    };
  }

  /** Subclasses declare no constructor: builders and repositories create instances. */
  protected constructor() {}
}

/** Creates a frozen instance with these field values, without events. */
export function instantiate<M extends Entity>(
  descriptor: ModelDescriptor<M>,
  values: Readonly<Record<string, unknown>>,
): M {
  const draft: Record<string, unknown> & M = startDraft(descriptor);
  for (const { field } of descriptor.columns) assign(draft, field, values[field]);
  return finishDraft(draft, NO_EVENTS);
}

/** A frozen copy with some fields changed, without pending events. */
export function copyWith<M extends Entity>(
  descriptor: ModelDescriptor<M>,
  model: M,
  changes: Readonly<Record<string, unknown>>,
): M {
  const draft = startDraft(descriptor);
  for (const { field } of descriptor.columns) {
    assign(draft, field, field in changes ? changes[field] : fieldOf(model, field));
  }
  return finishDraft(draft, NO_EVENTS);
}

/** Sets a field of a draft. */
export function assign(draft: Record<string, unknown>, field: string, value: unknown): void {
  draft[field] = value;
}

/** The value of a field by its name. */
export function fieldOf(model: Entity, field: string): unknown {
  return (model as unknown as Readonly<Record<string, unknown>>)[field];
}
