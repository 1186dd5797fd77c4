import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { isTraceParent } from '../../domain/trace-parent.js';
import type { LoggedEvent } from '../../events/log/event-record.js';
import type { RelayMessage } from '../relay-sink.js';

/** The shape of messages: CloudEvents 1.0 in either mode, or that of Debezium's outbox event router. */
export type MessageShape = 'structured' | 'binary' | 'debezium';

/** How events become messages. */
export interface MessageFormat {
  readonly shape: MessageShape;
  readonly shard: ShardIdentifier;
  /** Where `/schemas/...` is served: the beginning of `dataschema`. Undefined: messages name no schema. */
  readonly schemaBaseUrl?: string | undefined;
}

const JSON_TYPE = 'application/json';
const STRUCTURED_TYPE = 'application/cloudevents+json; charset=UTF-8';
/** Digits of the longest `bigint`: CloudEvents wants a sequence that can be compared as text. */
const SEQUENCE_DIGITS = 19;

/** The message of one event. */
export function toMessage(event: LoggedEvent, format: MessageFormat): RelayMessage {
  const { id, modelId, modelName, eventType } = event;
  const common = { id, key: modelId, modelName, eventType };
  switch (format.shape) {
    case 'structured': {
      const document: Record<string, unknown> = attributesOf(event, format);
      document['data'] = event.payload;
      const body = JSON.stringify(document);
      return { ...common, contentType: STRUCTURED_TYPE, attributes: {}, headers: {}, body };
    }
    case 'binary': {
      const { datacontenttype: contentType = JSON_TYPE, ...attributes } = attributesOf(event, format);
      return { ...common, contentType, attributes, headers: {}, body: JSON.stringify(event.payload) };
    }
    case 'debezium': {
      const body = JSON.stringify(event.payload);
      return { ...common, contentType: JSON_TYPE, attributes: {}, headers: routerHeaders(event), body };
    }
  }
}

/** Attributes by name, in the order in which they are written. */
function attributesOf(event: LoggedEvent, format: MessageFormat): Record<string, string> {
  const { source, type, dataschema } = kindOf(event, format);
  const attributes: Record<string, string> = {
    specversion: '1.0',
    id: event.id,
    source,
    type,
    subject: event.modelId,
    time: event.createdDate,
    datacontenttype: JSON_TYPE,
    sequence: String(event.modelVersion).padStart(SEQUENCE_DIGITS, '0'),
    partitionkey: event.modelId,
    modelname: event.modelName,
    eventversion: String(event.eventVersion),
    actionid: event.actionId,
  };
  if (dataschema !== undefined) attributes['dataschema'] = dataschema;
  const trace = traceParentOf(event);
  if (trace !== undefined) attributes['traceparent'] = trace;
  return attributes;
}

/** Attributes whose values many messages have in common. */
const SHARED: ReadonlySet<string> = new Set([
  'specversion',
  'source',
  'type',
  'datacontenttype',
  'modelname',
  'eventversion',
  'dataschema',
]);

/** True for an attribute with few values, whose encoded form is worth keeping. */
export function isShared(attribute: string): boolean {
  return SHARED.has(attribute);
}

/** What all events of one version of one type have in common. */
interface EventKind {
  readonly source: string;
  readonly type: string;
  readonly dataschema: string | undefined;
}

/** By format, then by namespace, type and version: as many as the application has. */
const kinds = new WeakMap<MessageFormat, Map<string, EventKind>>();

function kindOf({ namespace, eventType, eventVersion }: LoggedEvent, format: MessageFormat): EventKind {
  const known = kinds.get(format) ?? new Map<string, EventKind>();
  kinds.set(format, known);
  const name = `${namespace} ${eventType} ${eventVersion}`;
  let kind = known.get(name);
  if (kind === undefined) {
    const { shard, schemaBaseUrl } = format;
    kind = {
      source: sourceOf(namespace, shard),
      type: `${namespace}.${eventType}`,
      dataschema:
        schemaBaseUrl === undefined ? undefined : `${schemaBaseUrl}${schemaPath(eventType, eventVersion)}`,
    };
    known.set(name, kind);
  }
  return kind;
}

/** A reference that identifies the shard: `/example.wallet/shards/1-0`. */
function sourceOf(namespace: string, { group, member }: ShardIdentifier): string {
  return `/${encodeURIComponent(namespace)}/shards/${group}-${member}`;
}

/** Where the schema of one version of an event is: `/schemas/WalletCreatedEvent/1.json`. */
function schemaPath(eventType: string, version: number): string {
  return `/schemas/${encodeURIComponent(eventType)}/${version}.json`;
}

/** The headers that the connector of `fw-gen connectors` writes. */
function routerHeaders(event: LoggedEvent): Readonly<Record<string, string>> {
  const trace = traceParentOf(event);
  return {
    id: event.id,
    eventType: event.eventType,
    eventVersion: String(event.eventVersion),
    modelVersion: String(event.modelVersion),
    ...(trace === undefined ? {} : { traceparent: trace }),
  };
}

function traceParentOf({ traceContext }: LoggedEvent): string | undefined {
  return traceContext !== null && isTraceParent(traceContext) ? traceContext : undefined;
}
