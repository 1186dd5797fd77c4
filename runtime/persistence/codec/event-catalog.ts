import type { EventDescriptor } from '../../domain/descriptor.js';
import { compileObjectWriter, type JsonWriter } from '../../domain/json-codec.js';
import type { ModelEvent } from '../../domain/model-event.js';
import { withoutSecrets } from '../../domain/shown-fields.js';
import { requireStoredName } from '../../domain/stored-names.js';
import { UnknownModelError, ValidationError } from '../../errors.js';
import { type EventFacts, RecordedEvent } from './recorded-event.js';

/** An event class with its compiled payload writer. */
export interface CataloguedEvent {
  readonly name: string;
  /** Version of the payload's format. */
  readonly version: number;
  readonly writePayload: JsonWriter<object>;
}

/** All event classes of an application. */
export class EventCatalog {
  readonly #descriptors: readonly EventDescriptor[];
  readonly #byClass = new Map<unknown, CataloguedEvent>();

  /** @throws ValidationError if an event class has no name, or two have the same */
  constructor(events: readonly EventDescriptor[]) {
    this.#descriptors = events;
    const names = new Set<string>();
    for (const { name, aliases = [], version = 1, eventClass, fields } of events) {
      requireStoredName(name, eventClass());
      for (const each of [name, ...aliases]) {
        if (names.has(each)) throw new ValidationError(`Event ${each} is registered twice`);
        names.add(each);
      }
      this.#byClass.set(eventClass(), { name, version, writePayload: compileObjectWriter(fields) });
    }
  }

  /** @throws UnknownModelError if the event's class is not registered */
  of(event: ModelEvent<unknown>): CataloguedEvent {
    if (event instanceof RecordedEvent) return asRecorded(event);
    const known = this.#byClass.get(event.constructor);
    if (known === undefined) {
      throw new UnknownModelError(`${event.constructor.name} is not a registered event; run fw-gen generate`);
    }
    return known;
  }

  /** The values of this event's outbox row. @throws UnknownModelError if the event's class is not registered */
  factsOf(event: ModelEvent<unknown>): EventFacts {
    const { name, version, writePayload } = this.of(event);
    const [modelId, modelName] = [event.getModelId(), event.getModelName()];
    return { type: name, version, modelId, modelName, payload: writePayload(event) };
  }

  /** The same event classes with payload writers that leave out secret fields. For display, not for the outbox. */
  withoutSecrets(): EventCatalog {
    return new EventCatalog(
      this.#descriptors.map((event) => ({
        ...event,
        fields: withoutSecrets(event.fields),
      })),
    );
  }
}

function asRecorded({ facts }: RecordedEvent): CataloguedEvent {
  return { name: facts.type, version: facts.version, writePayload: () => facts.payload };
}
