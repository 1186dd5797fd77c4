import { TransientMap } from '../../collections/transient-map.js';
import { modelKeyOf } from '../log/event-record.js';
import type { WindowEntry } from '../log/model-window.js';
import type { HandlingFailure, ParkedEvent } from './parking-store.js';

/** Maximum events in one statement. */
const BATCH = 200;

/** The events of one consumer that are about to be written to the parking table, in order. */
export class PendingParking {
  readonly #events: { readonly entry: WindowEntry; readonly parked: ParkedEvent }[] = [];
  /** Number of events by model. */
  readonly #models = new TransientMap<number>();

  get size(): number {
    return this.#events.length;
  }

  has(model: string): boolean {
    return this.#models.has(model);
  }

  /** @param failure undefined: it waits behind a failed event, or for something that is out of reach */
  add(entry: WindowEntry, failure: HandlingFailure | undefined): void {
    const model = modelKeyOf(entry.event);
    this.#models.set(model, (this.#models.get(model) ?? 0) + 1);
    this.#events.push({ entry, parked: { event: entry.event, failure } });
  }

  /** The first events, for one statement. */
  batch(): readonly ParkedEvent[] {
    return this.#events.slice(0, BATCH).map(({ parked }) => parked);
  }

  /** Removes the first events, which have been written. */
  written(count: number): readonly WindowEntry[] {
    const entries = this.#events.splice(0, count).map(({ entry }) => entry);
    for (const { event } of entries) {
      const model = modelKeyOf(event);
      const left = (this.#models.get(model) ?? 0) - 1;
      if (left > 0) this.#models.set(model, left);
      else this.#models.delete(model);
    }
    return entries;
  }
}
