import type { EventDescriptor, Upcaster } from '../../domain/descriptor.js';
import { compileObjectReader, type JsonReader } from '../../domain/json-codec.js';
import { type ModelEvent, reviveEvent } from '../../domain/model-event.js';
import { requireUpcasters, upcast } from '../../domain/upcast.js';
import { UnknownModelError } from '../../errors.js';
import type { LoggedEvent } from './event-record.js';

interface KnownEvent {
  readonly descriptor: EventDescriptor;
  readonly version: number;
  readonly upcasters: readonly Upcaster[];
  readonly read: JsonReader<Readonly<Record<string, unknown>>>;
}

/** The event classes of a handler. Turns outbox rows of any version into instances. */
export class EventTypes {
  readonly #known: ReadonlyMap<string, KnownEvent>;

  /** @throws ValidationError if the upcasters of an event do not lead from version 1 to its version */
  constructor(events: readonly EventDescriptor[]) {
    this.#known = byStoredName(events, knownEvent);
  }

  /** True for an event of a version that this process does not know yet; a newer process must handle it. */
  isTooNew({ eventType, eventVersion }: Pick<LoggedEvent, 'eventType' | 'eventVersion'>): boolean {
    return eventVersion > (this.#known.get(eventType)?.version ?? 0);
  }

  /** @throws ValidationError if the payload does not fit the class, UnknownModelError for an unknown type */
  revive(event: LoggedEvent): ModelEvent<unknown> {
    const { eventType, eventVersion: version, payload } = event;
    const known = this.#known.get(eventType);
    if (known === undefined) throw new UnknownModelError(`${eventType} is not an event of this handler`);
    const { descriptor, upcasters, read } = known;
    return reviveEvent(
      descriptor.eventClass(),
      event,
      read(upcast(descriptor, upcasters, { version, payload })),
    );
  }
}

/** Maps the current and earlier names of events. */
export function byStoredName<T>(
  events: readonly EventDescriptor[],
  of: (event: EventDescriptor) => T,
): ReadonlyMap<string, T> {
  return new Map(
    events.flatMap((event) => {
      const value = of(event);
      return [event.name, ...(event.aliases ?? [])].map((name) => [name, value] as const);
    }),
  );
}

function knownEvent(descriptor: EventDescriptor): KnownEvent {
  const { version = 1, fields, eventClass } = descriptor;
  const upcasters = requireUpcasters(descriptor, eventClass);
  return { descriptor, version, upcasters, read: compileObjectReader(fields) };
}
