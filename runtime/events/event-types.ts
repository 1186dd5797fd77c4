import type { EventDescriptor, Upcaster } from '../domain/descriptor.js';
import type { JsonObject } from '../domain/json.js';
import { compileObjectReader, type JsonReader } from '../domain/json-reader.js';
import { type ModelEvent, reviveEvent } from '../domain/model-event.js';
import { UnknownModelError, ValidationError } from '../errors.js';
import type { LoggedEvent } from './event-record.js';

interface KnownEvent {
  readonly descriptor: EventDescriptor;
  readonly version: number;
  readonly upcasters: readonly Upcaster[];
  readonly read: JsonReader<Readonly<Record<string, unknown>>>;
}

/** The event classes that a handler knows: turns rows of the outbox, whatever version they have, into instances. */
export class EventTypes {
  readonly #known: ReadonlyMap<string, KnownEvent>;

  /** @throws ValidationError if the upcasters of an event do not lead from version 1 to its version */
  constructor(events: readonly EventDescriptor[]) {
    this.#known = new Map(events.map((descriptor) => [descriptor.name, knownEvent(descriptor)]));
  }

  get names(): readonly string[] {
    return [...this.#known.keys()];
  }

  /** True for an event of a version that this process does not know yet: a newer one has to handle it. */
  isTooNew({ eventType, eventVersion }: Pick<LoggedEvent, 'eventType' | 'eventVersion'>): boolean {
    return eventVersion > (this.#known.get(eventType)?.version ?? 0);
  }

  /** @throws ValidationError if the payload does not fit the class, UnknownModelError for another type */
  revive(event: LoggedEvent): ModelEvent<unknown> {
    const known = this.#known.get(event.eventType);
    if (known === undefined)
      throw new UnknownModelError(`${event.eventType} is not an event of this handler`);
    const payload = upcast(known, event);
    return reviveEvent(known.descriptor.eventClass(), event, known.read(payload));
  }
}

function knownEvent(descriptor: EventDescriptor): KnownEvent {
  const { name, version = 1, fields } = descriptor;
  const upcasters = descriptor.upcasters ?? staticUpcasters(descriptor);
  if (upcasters.length < version - 1) {
    throw new ValidationError(
      `${name} has version ${version} and ${upcasters.length} upcasters; one is needed for each older version`,
    );
  }
  return { descriptor, version, upcasters, read: compileObjectReader(fields) };
}

function staticUpcasters({ eventClass }: EventDescriptor): readonly Upcaster[] {
  const owner: object = eventClass();
  const upcasters: unknown = 'upcasters' in owner ? owner.upcasters : undefined;
  return Array.isArray(upcasters) ? upcasters : [];
}

function upcast({ version, upcasters }: KnownEvent, { eventVersion, payload }: LoggedEvent): JsonObject {
  return upcasters.slice(eventVersion - 1, version - 1).reduce((older, step) => step(older), payload);
}
