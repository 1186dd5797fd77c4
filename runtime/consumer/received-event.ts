import type { JsonObject, JsonValue } from '../domain/json.js';
import { ValidationError } from '../errors.js';

/** A message as a broker's client or an HTTP server passes it. */
export interface IncomingMessage {
  /** Headers by name, in any case. Values of Kafka and NATS may be bytes. */
  readonly headers?: HeaderSource;
  /** The body as text or bytes. */
  readonly body: string | Uint8Array;
}

/** Headers of Node's HTTP server, of `fetch`, of Kafka and of NATS. */
type HeaderSource =
  | Readonly<Record<string, HeaderValue>>
  | Iterable<readonly [string | Uint8Array, HeaderValue]>;

/** A header as Node, `fetch`, Kafka and NATS pass it. */
type HeaderValue = string | Uint8Array | readonly string[] | undefined;

/** An event of another service, independent of the message format. */
export interface ReceivedEvent {
  /** The event's id, the same in every repetition. */
  readonly id: string;
  /** The event's origin, such as `/example.wallet/shards/1-0`. Empty in the format of Debezium. */
  readonly source: string;
  /** `example.wallet.WalletCreatedEvent`; without the namespace in the format of Debezium. */
  readonly type: string;
  /** The last part of the type: `WalletCreatedEvent`. */
  readonly eventType: string;
  /** Version of the event's format. Default 1. */
  readonly eventVersion: number;
  /** Id of the model. Undefined if the message does not contain it. */
  readonly subject: string | undefined;
  /** Version of the model that the change produced. Undefined if the message does not contain it. */
  readonly modelVersion: number | undefined;
  readonly time: Date | undefined;
  readonly dataSchema: string | undefined;
  readonly traceContext: string | undefined;
  readonly data: JsonObject;
}

/** Larger messages are refused before they are parsed. */
const MOST_BYTES = 16 * 1_024 * 1_024;
const STRUCTURED = /^application\/cloudevents\+json\b/i;
const SPEC_VERSION = /^1\.\d+$/;
const COUNT = /^\d{1,19}$/;

/**
 * Reads a CloudEvent 1.0 in structured or binary mode, or a message of Debezium's outbox event router.
 *
 * @throws ValidationError for a message in none of these formats
 */
export function readMessage({ headers = {}, body }: IncomingMessage): ReceivedEvent {
  const given = headersOf(headers);
  const text = textOf(body);
  if (STRUCTURED.test(given.get('content-type') ?? '')) return structured(text);
  const attributes = prefixed(given);
  if (attributes.has('specversion')) return eventOf(attributes, objectOf(text, 'data'));
  if (given.has('id') && given.has('eventtype')) return routed(given, objectOf(text, 'payload'));
  throw new ValidationError(
    'The message is neither a CloudEvent nor one of an outbox event router: it has no content type ' +
      'application/cloudevents+json, no header ce-specversion, and no headers id and eventType',
  );
}

function structured(text: string): ReceivedEvent {
  const { data, ...rest } = objectOf(text, 'CloudEvent');
  const attributes = new Map<string, string>();
  for (const [name, value] of Object.entries(rest))
    if (value !== null && typeof value !== 'object') attributes.set(name, String(value));
  return eventOf(attributes, requireObject(data, 'data'));
}

function eventOf(attributes: ReadonlyMap<string, string>, data: JsonObject): ReceivedEvent {
  const required = (name: string): string => {
    const value = attributes.get(name);
    if (value !== undefined && value !== '') return value;
    throw new ValidationError(`The CloudEvent has no ${name}`, { field: name });
  };
  const version = required('specversion');
  if (!SPEC_VERSION.test(version))
    throw new ValidationError(`The CloudEvent has specversion ${version}; only 1.0 is supported`, {
      field: 'specversion',
    });
  const type = required('type');
  return {
    id: required('id'),
    source: required('source'),
    type,
    eventType: type.slice(type.lastIndexOf('.') + 1),
    eventVersion: countOf(attributes, 'eventversion') ?? 1,
    subject: attributes.get('subject'),
    modelVersion: countOf(attributes, 'sequence'),
    time: timeOf(attributes.get('time')),
    dataSchema: attributes.get('dataschema'),
    traceContext: attributes.get('traceparent'),
    data,
  };
}

function routed(headers: ReadonlyMap<string, string>, data: JsonObject): ReceivedEvent {
  const type = headers.get('eventtype') ?? '';
  return {
    id: headers.get('id') ?? '',
    source: '',
    type,
    eventType: type,
    eventVersion: countOf(headers, 'eventversion') ?? 1,
    subject: undefined,
    modelVersion: countOf(headers, 'modelversion'),
    time: undefined,
    dataSchema: undefined,
    traceContext: headers.get('traceparent'),
    data,
  };
}

/** Attributes in headers: over HTTP and NATS `ce-id`, with percent-encoded values; in Kafka `ce_id`. */
function prefixed(headers: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of headers) {
    if (name.startsWith('ce_')) found.set(name.slice(3), value);
    else if (name.startsWith('ce-')) found.set(name.slice(3), percentDecoded(value));
  }
  return found;
}

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function headersOf(source: HeaderSource): ReadonlyMap<string, string> {
  const pairs = Symbol.iterator in source ? source : Object.entries(source);
  const found = new Map<string, string>();
  for (const [name, value] of pairs) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) found.set(textOf(name).toLowerCase(), textOf(first as string | Uint8Array));
  }
  return found;
}

function textOf(value: string | Uint8Array): string {
  if (value.length > MOST_BYTES) throw new ValidationError(`The message is larger than ${MOST_BYTES} bytes`);
  if (typeof value === 'string') return value;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(value);
  } catch (cause) {
    throw new ValidationError('The message is not UTF-8', { cause });
  }
}

function objectOf(text: string, what: string): JsonObject {
  try {
    return requireObject(JSON.parse(text) as JsonValue, what);
  } catch (cause) {
    if (cause instanceof ValidationError) throw cause;
    throw new ValidationError(`The ${what} of the message is not JSON`, { cause });
  }
}

function requireObject(value: JsonValue | undefined, what: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new ValidationError(`The ${what} of the message is not a JSON object`, { field: 'data' });
}

function countOf(values: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = values.get(name);
  return text !== undefined && COUNT.test(text) ? Number(text) : undefined;
}

function timeOf(text: string | undefined): Date | undefined {
  const time = text === undefined ? undefined : new Date(text);
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : time;
}
