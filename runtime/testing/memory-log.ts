import { uuid7 } from '../domain/id-source.js';
import type { JsonObject } from '../domain/json.js';
import { compileObjectWriter } from '../domain/json-writer.js';
import type { ModelEvent } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { LoggedEvent, SourceAction } from '../events/log/event-record.js';
import type { EventCatalog } from '../persistence/codec/event-catalog.js';
import type { MemoryCommit } from './memory-executor.js';

/** The origin of an event. */
export interface EventSource {
  readonly actionId: string;
  readonly action: SourceAction | null;
  readonly shard: ShardIdentifier;
  readonly createdDate: Date;
  readonly modelVersion: number;
}

/** `namespace` of events in specifications. */
const NAMESPACE = 'spec';

/** Writes events as the outbox does, with payloads as JSON, so that a handler receives events restored from JSON. */
export class MemoryLog {
  readonly #catalog: EventCatalog;
  #position = 0;

  constructor(catalog: EventCatalog) {
    this.#catalog = catalog;
  }

  /** @throws UnknownModelError if the class of the event is not registered */
  entry(event: ModelEvent<unknown>, source: EventSource): LoggedEvent {
    const { type, version, modelId, modelName, payload } = this.#catalog.factsOf(event);
    this.#position += 1;
    return {
      id: uuid7.next(source.shard.bits),
      cursor: { epoch: 1, transactionId: String(this.#position), position: this.#position },
      actionId: source.actionId,
      namespace: NAMESPACE,
      modelId,
      modelName,
      modelVersion: source.modelVersion,
      eventType: type,
      eventVersion: version,
      payload: JSON.parse(payload) as JsonObject,
      createdDate: source.createdDate.toISOString(),
      traceContext: null,
      action: source.action,
    };
  }

  /** The events of one commit, in the order of the outbox. */
  entries(
    { actionId, action, principal, params, performed }: MemoryCommit,
    now: Date,
    defaultShard: ShardIdentifier,
  ): readonly LoggedEvent[] {
    const fields = action.params.filter(({ secret }) => secret !== true);
    const isObject = typeof params === 'object' && params !== null;
    const json = isObject ? (JSON.parse(compileObjectWriter(fields)(params)) as JsonObject) : null;
    const source = {
      actionId,
      action: {
        name: action.name,
        principal: principal.name,
        claims: principal.claimsJson === undefined ? null : (JSON.parse(principal.claimsJson) as JsonObject),
        params: json,
      },
      shard: performed.shards[0] ?? defaultShard,
      createdDate: now,
    };
    return performed.items.flatMap((item) =>
      item.kind === 'expect'
        ? []
        : item.events.map((event) => this.entry(event, { ...source, modelVersion: item.model.version })),
    );
  }
}
