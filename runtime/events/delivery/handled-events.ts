import type { LoggedEvent } from '../log/event-record.js';

/**
 * A standby may lack the last seconds before a failover. An hour is far more, and less than the day that retention
 * keeps.
 */
const REMEMBERED_MS = 3_600_000;
const REMEMBERED_EVENTS = 1_000;

/** The most recently handled events: after a failover the log may lack some of them. */
export class HandledEvents {
  readonly #events: { readonly id: string; readonly createdDate: string }[] = [];
  #next = 0;

  add({ id, createdDate }: LoggedEvent): void {
    this.#events[this.#next] = { id, createdDate };
    this.#next = (this.#next + 1) % REMEMBERED_EVENTS;
  }

  /** Ids of the events that were committed within the last hour before the newest one. */
  recent(): readonly string[] {
    const times = this.#events.map(({ createdDate }) => Date.parse(createdDate));
    const since = Math.max(...times) - REMEMBERED_MS;
    return this.#events.filter((_, index) => (times[index] ?? 0) >= since).map(({ id }) => id);
  }
}
