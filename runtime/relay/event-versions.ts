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

/**
 * Upcasts events to the current name and version. Events of a class that no longer exists are sent as stored.
 *
 * @throws ValidationError if the upcasters of an event do not lead from version 1 to its version
 */
export function latestVersions(events: readonly EventDescriptor[]): EventVersions {
  const types = new EventTypes(events);
  return {
    isTooNew: (event) => types.has(event.eventType) && types.isTooNew(event),
    inForm: (event) => (types.has(event.eventType) ? types.upcast(event) : event),
  };
}
