import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { isTraceParent } from '../../domain/trace-parent.js';
import type { LoggedEvent } from '../../events/log/event-record.js';
import type { RelayMessage } from '../relay-sink.js';

/** The mode of messages, which are CloudEvents 1.0. */
export type MessageShape = 'structured' | 'binary';

/** How events are converted to messages. */
export interface MessageFormat {
  readonly shape: MessageShape;
  readonly shard: ShardIdentifier;
  /** Base URL of `/schemas/...`, the prefix of `dataschema`. Undefined: messages name no schema. */
  readonly schemaBaseUrl?: string | undefined;
}

const JSON_TYPE = 'application/json';
const STRUCTURED_TYPE = 'application/cloudevents+json; charset=UTF-8';
/** Digits of the largest `bigint`: CloudEvents sequences are ordered as text, so they are padded. */
const SEQUENCE_DIGITS = 19;

export function toMessage(event: LoggedEvent, format: MessageFormat): RelayMessage {
  const { id, modelId, modelName, eventType } = event;
  const common = { id, key: modelId, modelName, eventType, traceContext: traceParentOf(event) };
  const data = JSON.stringify(event.payload);
  switch (format.shape) {
    case 'structured': {
      const own = JSON.stringify(ownAttributes(event)).slice(1, -1);
      const body = `{${kindOf(event, format).text},${own},"datacontenttype":"${JSON_TYPE}","data":${data}}`;
      return { ...common, contentType: STRUCTURED_TYPE, attributes: {}, body };
    }
    case 'binary': {
      const attributes = { ...kindOf(event, format).attributes, ...ownAttributes(event) };
      return { ...common, contentType: JSON_TYPE, attributes, body: data };
    }
  }
}

/** Attributes that differ from event to event. */
function ownAttributes(event: LoggedEvent): Readonly<Record<string, string>> {
  const attributes: Record<string, string> = {
    id: event.id,
    subject: event.modelId,
    time: event.createdDate,
    sequence: String(event.modelVersion).padStart(SEQUENCE_DIGITS, '0'),
    partitionkey: event.modelId,
    actionid: event.actionId,
  };
  const trace = traceParentOf(event);
  if (trace !== undefined) attributes['traceparent'] = trace;
  return attributes;
}

/** Values that all events of one version of one type share. */
interface EventKind {
  readonly attributes: Readonly<Record<string, string>>;
  /** The attributes in JSON, without braces. */
  readonly text: string;
}

/** By format, then by namespace, model, type and version; as many as the application has. */
const kinds = new WeakMap<MessageFormat, Map<string, EventKind>>();

function kindOf(event: LoggedEvent, format: MessageFormat): EventKind {
  const known = kinds.get(format) ?? new Map<string, EventKind>();
  kinds.set(format, known);
  const name = `${event.namespace} ${event.modelName} ${event.eventType} ${event.eventVersion}`;
  let kind = known.get(name);
  if (kind === undefined) {
    const attributes = sharedAttributes(event, format);
    kind = { attributes, text: JSON.stringify(attributes).slice(1, -1) };
    known.set(name, kind);
  }
  return kind;
}

function sharedAttributes(
  { namespace, modelName, eventType, eventVersion }: LoggedEvent,
  { shard, schemaBaseUrl }: MessageFormat,
): Readonly<Record<string, string>> {
  return {
    specversion: '1.0',
    // The URI reference of the shard: `/example.wallet/shards/1-0`.
    source: `/${encodeURIComponent(namespace)}/shards/${shard.group}-${shard.member}`,
    type: `${namespace}.${eventType}`,
    modelname: modelName,
    eventversion: String(eventVersion),
    // The path of the schema: `/schemas/WalletCreatedEvent/1.json`.
    ...(schemaBaseUrl === undefined
      ? {}
      : { dataschema: `${schemaBaseUrl}/schemas/${encodeURIComponent(eventType)}/${eventVersion}.json` }),
  };
}

function traceParentOf({ traceContext }: LoggedEvent): string | undefined {
  return traceContext !== null && isTraceParent(traceContext) ? traceContext : undefined;
}
