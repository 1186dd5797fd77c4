import type { EventDescriptor, Upcaster } from '../domain/descriptor.js';
import { requireUpcasters, upcast } from '../domain/upcast.js';
import type { LoggedEvent } from '../events/log/event-record.js';
import { byStoredName } from '../events/log/event-types.js';

/** Converts events to the version in which a sink sends them. */
export interface EventVersions {
  /** True for an event that a newer process must send. */
  isTooNew(event: LoggedEvent): boolean;
  /** @throws ValidationError if an upcaster fails */
  inForm(event: LoggedEvent): LoggedEvent;
}

/** Sends events as stored, even those of versions unknown to this process. */
export const STORED_VERSIONS: EventVersions = Object.freeze({
  isTooNew: () => false,
  inForm: (event: LoggedEvent) => event,
});

interface KnownEvent {
  readonly descriptor: EventDescriptor;
  readonly version: number;
  readonly upcasters: readonly Upcaster[];
}

/** Upcasts events to the current name and version. Events of a class that no longer exists are sent as stored. */
export class LatestVersions implements EventVersions {
  readonly #known: ReadonlyMap<string, KnownEvent>;

  /** @throws ValidationError if the upcasters of an event do not lead from version 1 to its version */
  constructor(events: readonly EventDescriptor[]) {
    this.#known = byStoredName(events, (descriptor) => {
      const { version = 1, eventClass } = descriptor;
      return { descriptor, version, upcasters: requireUpcasters(descriptor, eventClass) };
    });
  }

  isTooNew({ eventType, eventVersion }: LoggedEvent): boolean {
    const known = this.#known.get(eventType);
    return known !== undefined && eventVersion > known.version;
  }

  inForm(event: LoggedEvent): LoggedEvent {
    const known = this.#known.get(event.eventType);
    if (known === undefined) return event;
    const { descriptor, upcasters, version } = known;
    const eventType = descriptor.name;
    if (version === event.eventVersion)
      return eventType === event.eventType ? event : { ...event, eventType };
    const stored = { version: event.eventVersion, payload: event.payload };
    return { ...event, eventType, eventVersion: version, payload: upcast(descriptor, upcasters, stored) };
  }
}
