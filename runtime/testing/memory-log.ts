import { uuid7 } from '../domain/id-source.js';
import type { JsonObject } from '../domain/json.js';
import type { ModelEvent } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { LoggedEvent, SourceAction } from '../events/log/event-record.js';
import type { EventCatalog } from '../persistence/codec/event-catalog.js';
import { type MemoryCommit, NAMESPACE } from './memory-store.js';

/** The origin of an event. */
export interface EventSource {
  /** Default: a new one. */
  readonly id?: string | undefined;
  readonly actionId: string;
  readonly action: SourceAction | null;
  readonly shard: ShardIdentifier;
  readonly createdDate: Date;
  readonly modelVersion: number;
}

/** Writes events as the outbox does, with payloads as JSON, so that a handler receives events restored from JSON. */
export class MemoryLog {
  readonly #catalog: EventCatalog;
  #position = 0;

  constructor(catalog: EventCatalog) {
    this.#catalog = catalog;
  }

  /** @throws UnknownModelError if the class of the event is not registered */
  entry(
    event: ModelEvent<unknown>,
    { shard, createdDate, id = uuid7.next(shard.bits), ...source }: EventSource,
  ): LoggedEvent {
    const { type, version, payload, ...model } = this.#catalog.factsOf(event);
    this.#position += 1;
    return {
      ...source,
      ...model,
      id,
      cursor: { epoch: 1, transactionId: String(this.#position), position: this.#position },
      namespace: NAMESPACE,
      eventType: type,
      eventVersion: version,
      payload: JSON.parse(payload) as JsonObject,
      createdDate: createdDate.toISOString(),
      traceContext: null,
    };
  }

  /** The events of one commit, in the order of the outbox. */
  entries({ plan: { action, items }, shard }: MemoryCommit): readonly LoggedEvent[] {
    const { id: actionId, name, principal, completedDate: createdDate } = action;
    const source = {
      actionId,
      action: { name, principal, claims: jsonOf(action.claims), params: jsonOf(action.params) },
      shard,
      createdDate,
    };
    return items.flatMap((item) =>
      item.kind === 'expect'
        ? []
        : item.events.map((event) => this.entry(event, { ...source, modelVersion: item.model.version })),
    );
  }
}

/** @param text of an object that the runtime has written */
export function jsonOf(text: string | undefined): JsonObject | null {
  return text === undefined ? null : (JSON.parse(text) as JsonObject);
}
