import type { StagedItem } from '../../action/action-plan.js';
import { RecordedEvent } from '../../persistence/codec/recorded-event.js';
import type { WriteGroup } from '../../persistence/shard-store.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

/** Decides whether a commit has events for a handler, so that other commits wake no handler. */
export class Interest {
  readonly #eventClasses: ReadonlySet<unknown>;

  /** Whether a consumer selects every event. */
  readonly #all: boolean;

  /** @param all whether a consumer selects events of every class. Default false */
  constructor(handlers: readonly HandlerDescriptor[], all = false) {
    this.#all = all;
    this.#eventClasses = new Set(
      handlers.flatMap(({ events }) => events.map(({ eventClass }) => eventClass())),
    );
  }

  /** True if a handler selects one of the events, or the commit schedules an action. */
  concerns(groups: readonly WriteGroup[]): boolean {
    return groups.some((plans) =>
      plans.some(
        ({ items, schedules = [] }) => schedules.length > 0 || items.some((item) => this.#isWanted(item)),
      ),
    );
  }

  #isWanted(item: StagedItem): boolean {
    if (item.kind === 'expect') return false;
    return item.events.some(
      (event) => this.#all || event instanceof RecordedEvent || this.#eventClasses.has(event.constructor),
    );
  }
}
