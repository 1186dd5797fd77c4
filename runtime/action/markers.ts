import type { JsonValue } from '../domain/json.js';
import type { ModelEvent } from '../domain/model-event.js';

/**
 * Markers that `fw-gen` looks for. At run time they do nothing, and they work as legacy and as standard decorators.
 * Their arguments must be literals: the generator reads them, it never runs them.
 */
export type Marker = (target: object, context?: unknown) => void;

const mark = (): void => {};

/** Used bare (`@FwAction`), a marker is handed the class itself and must return nothing, or it would replace it. */
function markerFor(argument: unknown): Marker | undefined {
  return typeof argument === 'function' ? undefined : mark;
}

/** Options of `@AutoBuilder`. */
export interface AutoBuilderOptions {
  /** Table name. Default: the class name in snake case, plural (`Wallet` -> `wallets`). */
  readonly table?: string;
  /** Column name or SQL type of a field, where the default does not fit: `{ balance: { type: 'numeric(38,18)' } }`. */
  readonly columns?: Readonly<Record<string, { readonly name?: string; readonly type?: string }>>;
  /** States that mean deleted: hidden from reads unless asked for. */
  readonly deletedStates?: readonly string[];
  /**
   * Rules in the comments of its fields (`@minimum`, `@maxLength`, `@pattern` ...) are check constraints of its table
   * as well, so that they bind other writers, too. Default false: `build()` alone checks them.
   */
  readonly checks?: boolean;
}

/** Marks a model or entity class: a builder, table types, a row codec and a repository are generated for it. */
export function AutoBuilder(options?: AutoBuilderOptions): Marker;
export function AutoBuilder(target: object, context?: unknown): void;
export function AutoBuilder(argument?: object): Marker | void {
  return markerFor(argument);
}

/** A marker of a field. */
export type FieldMarker = (target: unknown, context?: unknown) => void;

/**
 * Marks a field as part of the model's natural key: no two models of one shard have equal values in all fields that
 * carry it. A unique index is made for them, and repositories find models by them.
 *
 * @param name for a model with several keys: fields under one name form one key. Default: the key without a name
 */
export function Key(target: unknown, context: unknown): void;
export function Key(name?: string): FieldMarker;
export function Key(...args: readonly unknown[]): FieldMarker | void {
  return args.length > 1 ? undefined : mark;
}

/** Options of `@FwAction`. */
export interface FwActionOptions {
  /** Stable name in `eventlog.actions` and in keys. Default: the class name. */
  readonly name?: string;
}

/** Marks an action class: it is registered and its constructor is wired by generated code. */
export function FwAction(options?: FwActionOptions): Marker;
export function FwAction(target: object, context?: unknown): void;
export function FwAction(argument?: object): Marker | void {
  return markerFor(argument);
}

/** An event class as a value. */
export interface EventClass {
  readonly name: string;
  readonly prototype: ModelEvent<unknown>;
}

/** Options of `@FwEventHandler`. */
export interface FwEventHandlerOptions {
  /** Stable name: identity of its checkpoints and of the keys of actions that it starts. Default: the class name. */
  readonly name?: string;
  /** The events that it gets. Default: those in the type of `handle`'s envelope. */
  readonly event?: EventClass | readonly EventClass[];
  /** Earlier names, so that a rename keeps its checkpoints. Default none. */
  readonly aliases?: readonly string[];
  /** Models that are worked on at the same time, on each shard. Default 32. */
  readonly concurrency?: number;
  /** Attempts before an event becomes a dead letter, the first one included. Default 5. */
  readonly maximumAttempts?: number;
  /** Longest first pause between attempts in milliseconds, doubled with each one up to 30,000. Default 100. */
  readonly retryDelayMs?: number;
  /** It writes through `envelope.transaction` alone, which also moves its checkpoint. Default false. */
  readonly transactional?: boolean;
  /** Where a handler that is new to a shard begins. Default `beginning`. */
  readonly startFrom?: 'beginning' | 'now';
}

/** Marks a class that handles events: it is registered and its constructor is wired by generated code. */
export function FwEventHandler(options?: FwEventHandlerOptions): Marker;
export function FwEventHandler(target: object, context?: unknown): void;
export function FwEventHandler(argument?: object): Marker | void {
  return markerFor(argument);
}

/** Marks a saga class: generated code registers it with the actions of its steps. */
export function FwSaga(): Marker;
export function FwSaga(target: object, context?: unknown): void;
export function FwSaga(argument?: object): Marker | void {
  return markerFor(argument);
}

/** Methods that a route can have. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Anything with a static `from(result)`: turns an action's result into the response body. */
export interface ResponseMapper {
  readonly name: string;
  from(result: never): object;
}

/** Options of `@HttpRoute`. */
export interface HttpRouteOptions {
  /** Status of success. Default 200; 204 where no response is mapped. */
  readonly status?: number;
  /** Class with a static `from(result)` that makes the response body. Its fields become the schema of the answer. */
  readonly response?: ResponseMapper;
  /** `Location` header, with fields of the response body in braces: `/wallets/{id}`. */
  readonly location?: string;
  /** Field of the response body whose value becomes the `ETag`: `version`. */
  readonly etag?: string;
  /** Id parameter whose model's version `If-Match` is compared with. Default: none, `If-Match` is ignored. */
  readonly ifMatch?: string;
  /**
   * Id parameter in the path of a GET route whose model's events are streamed to clients that ask for
   * `text/event-stream`. Default: none.
   */
  readonly feed?: string;
  /** Bytes of a request body; more is answered with 413. Default: `limits.bodyBytes` of the server, 65,536. */
  readonly bodyBytes?: number;
  /** Time for the whole execution, in milliseconds. Default: `fw.execution.timeout-ms`. */
  readonly timeoutMs?: number;
  /** One line for the API document. Default: the first line of the class's comment. */
  readonly summary?: string;
  /** Heading it stands under in the API document. */
  readonly tag?: string;
  /** Example request body for the API document. */
  readonly example?: JsonValue;
}

/**
 * Serves an action over HTTP. Parameters named in braces come from the path, the others from the body (or the query,
 * for GET and DELETE).
 */
export function HttpRoute(_method: HttpMethod, _path: `/${string}`, _options?: HttpRouteOptions): Marker {
  return mark;
}
