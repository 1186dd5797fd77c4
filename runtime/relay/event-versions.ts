import type { EventDescriptor } from '../domain/descriptor.js';
import type { LoggedEvent } from '../events/log/event-record.js';
import { EventTypes } from '../events/log/event-types.js';

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

/** Upcasts events to the current name and version. Events of a class that no longer exists are sent as stored. */
export class LatestVersions implements EventVersions {
  readonly #types: EventTypes;

  /** @throws ValidationError if the upcasters of an event do not lead from version 1 to its version */
  constructor(events: readonly EventDescriptor[]) {
    this.#types = new EventTypes(events);
  }

  isTooNew(event: LoggedEvent): boolean {
    return this.#types.has(event.eventType) && this.#types.isTooNew(event);
  }

  inForm(event: LoggedEvent): LoggedEvent {
    return this.#types.has(event.eventType) ? this.#types.upcast(event) : event;
  }
}
