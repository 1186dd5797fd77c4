import { PlanMisuseError, UnknownModelError } from '../errors.js';
import type { ModelDescriptor } from './descriptor.js';
import type { Id } from './id.js';
import { isPersisted, type ModelEvent } from './model-event.js';

const NO_EVENTS: readonly ModelEvent<unknown>[] = Object.freeze([]);

/** The descriptor that this instance was made with. @throws UnknownModelError if no builder made it */
export let descriptorOf: (entity: Entity) => ModelDescriptor;

/** Attached events whose rows have not been committed yet. */
export let pendingEventsOf: (entity: Entity) => readonly ModelEvent<unknown>[];

/** Makes a frozen instance with these field values and events. Validation is the builder's. */
export let instantiate: <M extends Entity>(
  descriptor: ModelDescriptor<M>,
  values: Readonly<Record<string, unknown>>,
  events: readonly ModelEvent<unknown>[],
) => M;

/**
 * Base of everything that is stored: identified, versioned, with a state, immutable. Instances come from the
 * generated builder or from a repository, never from `new`.
 *
 * @typeParam Self the class itself @typeParam IdType `ShardedId<Self>` or `Id<Self>` @typeParam State its states
 */
export abstract class Entity<
  Self = unknown,
  IdType extends Id<Self> = Id<Self>,
  State extends string = string,
> {
  readonly id!: IdType;
  readonly state!: State;
  /** 1 for a new model, one more with each persisted update. */
  readonly version!: number;

  #descriptor: ModelDescriptor | undefined;
  #pendingEvents: readonly ModelEvent<unknown>[] = NO_EVENTS;

  static {
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
      return events.some(isPersisted) ? events.filter((event) => !isPersisted(event)) : events;
    };
    instantiate = <M extends Entity>(
      descriptor: ModelDescriptor<M>,
      values: Readonly<Record<string, unknown>>,
      events: readonly ModelEvent<unknown>[],
    ): M => {
      // Class fields are defined by the constructor (as undefined) and assigned here, so that a model needs no
      // constructor of its own, whatever `useDefineForClassFields` says.
      const ModelConstructor = descriptor.modelClass() as unknown as new () => M & Record<string, unknown>;
      const model = new ModelConstructor();
      for (const { field } of descriptor.columns) (model as Record<string, unknown>)[field] = values[field];
      const entity: Entity = model;
      if (!(#descriptor in entity)) {
        throw new PlanMisuseError(`${descriptor.name} must extend Model or Entity of this package`);
      }
      entity.#descriptor = descriptor as unknown as ModelDescriptor;
      if (events.length > 0) entity.#pendingEvents = events;
      return Object.freeze(model);
    };
  }

  /** Subclasses declare no constructor: builders and repositories make instances. */
  protected constructor() {}
}
