import { ValidationError } from '../errors.js';
import type { ModelDescriptor } from './descriptor.js';
import { type Entity, instantiate, pendingEventsOf } from './entity.js';
import type { ModelEvent } from './model-event.js';

/** Version of a new model. */
export const INITIAL_VERSION = 1;

/**
 * Base of generated builders. A builder is used once: setters change it and return it, `build` makes a frozen
 * model. Which required fields are still missing is tracked in the generated class's type.
 */
export abstract class ModelBuilder<M extends Entity> {
  readonly #descriptor: ModelDescriptor<M>;
  readonly #values: Record<string, unknown> = {};
  #events: readonly ModelEvent<unknown>[] = [];

  protected constructor(descriptor: ModelDescriptor<M>) {
    this.#descriptor = descriptor;
  }

  /** Attaches an event: it is written to the outbox with the model's row. */
  withEvent(event: ModelEvent<M>): this {
    this.#events = [...this.#events, event];
    return this;
  }

  /** Carries over the base fields (id, state, version, dates) and the events that are still pending. */
  copyBase(model: M): this {
    for (const { field } of this.#descriptor.columns) {
      if (BASE_FIELDS.has(field)) this.#values[field] = fieldOf(model, field);
    }
    this.#events = pendingEventsOf(model);
    return this;
  }

  /** Carries over every field: what generated `copyOf` does. */
  protected copyAll(model: M): this {
    for (const { field } of this.#descriptor.columns) this.#values[field] = fieldOf(model, field);
    this.#events = pendingEventsOf(model);
    return this;
  }

  /** Sets one field. The caller names the builder's next type. */
  protected put<Next>(field: string, value: unknown): Next {
    this.#values[field] = value;
    return this as unknown as Next;
  }

  /** Makes the model. @throws ValidationError "<field> cannot be null" for the first required field not set */
  protected instantiate(): M {
    const values = this.#values;
    // A new model was last changed when it was created, unless its creator says otherwise.
    if (values['updatedDate'] === undefined && values['createdDate'] !== undefined) {
      values['updatedDate'] = values['createdDate'];
    }
    for (const { field, optional, nullable } of this.#descriptor.columns) {
      const value = values[field];
      if (value === undefined ? !optional : value === null && !nullable) {
        throw new ValidationError(`${field} cannot be null`, { field });
      }
    }
    return instantiate(this.#descriptor, values, Object.freeze([...this.#events]));
  }
}

const BASE_FIELDS: ReadonlySet<string> = new Set(['id', 'state', 'version', 'createdDate', 'updatedDate']);

function fieldOf(model: Entity, field: string): unknown {
  return (model as unknown as Readonly<Record<string, unknown>>)[field];
}
