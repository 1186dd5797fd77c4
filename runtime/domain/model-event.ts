import type { ModelClass } from './id.js';
import { storable } from './storable-text.js';
import { storedName } from './stored-names.js';

/** Marks this event's row as committed, so that it is never written again. */
export let markPersisted: (event: ModelEvent<unknown>) => void;
/** True once the event's row has been committed. */
export let isPersisted: (event: ModelEvent<unknown>) => boolean;

/**
 * Restores an event from the outbox: a frozen instance of its class with these fields, created without the class's own
 * constructor. It counts as persisted.
 */
export let reviveEvent: (
  eventClass: ModelClass<ModelEvent<unknown>>,
  subject: { readonly modelId: string; readonly modelName: string },
  fields: Readonly<Record<string, unknown>>,
) => ModelEvent<unknown>;

/**
 * A fact about one model, written to the outbox in the transaction that stores the model. Its own fields become the
 * payload.
 */
export abstract class ModelEvent<M> {
  /** Type only: distinguishes events of different models. */
  declare protected readonly modelType?: M;

  readonly #modelId: string;
  readonly #modelName: string;
  #persisted = false;

  static {
    markPersisted = (event) => {
      event.#persisted = true;
    };
    isPersisted = (event) => event.#persisted;
    reviveEvent = (eventClass, { modelId, modelName }, fields) => {
      const target = eventClass as unknown as new () => unknown;
      const event: ModelEvent<unknown> = Reflect.construct(
        ModelEvent,
        [modelId, { name: modelName }],
        target,
      );
      event.#persisted = true;
      Object.freeze(Object.assign(event, fields));
      return event;
    };
  }

  /**
   * @param modelId the model's id as a string
   * @param modelClass the model's class
   * @throws ValidationError if the id contains NUL or an unpaired surrogate
   */
  protected constructor(modelId: string, modelClass: ModelClass<M>) {
    this.#modelId = storable(modelId, 'modelId');
    this.#modelName = storedName(modelClass);
  }

  /** `model_id` of the outbox row. A method, so that the payload does not contain it. */
  getModelId(): string {
    return this.#modelId;
  }

  /** `model_name` of the outbox row. */
  getModelName(): string {
    return this.#modelName;
  }
}
