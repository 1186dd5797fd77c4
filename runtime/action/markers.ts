import type { JsonValue } from '../domain/json.js';
import type { ModelEvent } from '../domain/model-event.js';

/** Of standard decorators. `ClassDecoratorContext` would refuse classes with a protected constructor: models. */
type ClassContext = { readonly kind: 'class' };

/**
 * Markers of classes for `fw-gen`. They do nothing at run time, and work as legacy and as standard decorators. Their
 * arguments must be literals, because the generator reads the source without running it.
 */
type Marker = (target: object, context?: ClassContext) => void;

const mark = (): void => {};

/**
 * Used without parentheses (`@FwAction`), a marker receives the class itself and must return undefined, or it would
 * replace the class.
 */
function markerFor(argument: unknown): Marker | undefined {
  return typeof argument === 'function' ? undefined : mark;
}

/** Options of `@AutoBuilder`. */
interface AutoBuilderOptions {
  /**
   * Stable name: `model_name` in the outbox, and in ids. Set it to the former name when the class is renamed. Default:
   * the class name.
   */
  readonly name?: string;
  /** Table name. Default: the name in snake case, plural (`Wallet` -> `wallets`). */
  readonly table?: string;
  /** Column name or SQL type of a field, to replace the default: `{ balance: { type: 'numeric(38,18)' } }`. */
  readonly columns?: Readonly<Record<string, { readonly name?: string; readonly type?: string }>>;
  /** States that mean deleted: reads hide such models by default. */
  readonly deletedStates?: readonly string[];
  /** Whether concurrent actions of one process may start from each other's staged states. Default true. */
  readonly chaining?: boolean;
  /**
   * Whether several changes of one row may be written as one, without the states between. Default: only if the table has
   * no triggers or constraints of its own that might see or refuse such a state.
   */
  readonly folding?: boolean;
}

/** Marks a model or entity class: a builder, table types, a row codec and a repository are generated for it. */
export function AutoBuilder(options?: AutoBuilderOptions): Marker;
export function AutoBuilder(target: object, context?: ClassContext): void;
export function AutoBuilder(argument?: object): Marker | void {
  return markerFor(argument);
}

/** The second argument of a decorator of a field: the field's name for a legacy decorator. */
type FieldContext = string | symbol | { readonly kind: 'field' };

/** A decorator for fields. */
type FieldMarker = (target: unknown, context: FieldContext) => void;

/**
 * Marks a field as part of the model's natural key: no two models of one shard have equal values in all fields of the
 * key. The generator creates a unique index for the key, and repositories find models by it.
 *
 * @param name for a model with several keys: fields with the same name form one key. Default: the key without a name
 */
export function Key(target: unknown, context: FieldContext): void;
export function Key(name?: string): FieldMarker;
export function Key(...args: readonly unknown[]): FieldMarker | void {
  return args.length > 1 ? undefined : mark;
}

/** Options of `@FwEvent`. */
interface FwEventOptions {
  /**
   * Stable name: `event_type` in the outbox. Set it to the former name when the class is renamed. Default: the class
   * name.
   */
  readonly name?: string;
  /** Earlier stable names, under which stored events stay readable. Default none. */
  readonly aliases?: readonly string[];
}

/** Names a class that extends `ModelEvent` in the outbox, independently of the name of the class. */
export function FwEvent(_options: FwEventOptions): Marker {
  return mark;
}

/** Options of `@FwAction`. */
interface FwActionOptions {
  /** Stable name in `eventlog.actions` and in keys. Default: the class name. */
  readonly name?: string;
}

/** Marks an action class: generated code registers it and wires its constructor. */
export function FwAction(options?: FwActionOptions): Marker;
export function FwAction(target: object, context?: ClassContext): void;
export function FwAction(argument?: object): Marker | void {
  return markerFor(argument);
}

/** Options of `@FwSchedule`. */
export interface FwScheduleOptions {
  /** Five fields, as in crontab: minute, hour, day of the month, month, day of the week. */
  readonly cron: string;
  /** IANA time zone of the fields: `Europe/Berlin`. Default `UTC`. */
  readonly zone?: string;
  /**
   * `once`: one run per due time, on the default shard. `each-shard`: one on every shard, whose `group` and `member` are
   * the params. Default `once`.
   */
  readonly on?: 'once' | 'each-shard';
  /**
   * Runs for due times at which none could start, because no process was running or the previous run had not ended.
   * `once`: one for all of them. `each`: one for each, in order. `skip`: none for those a minute past. Default `once`.
   */
  readonly missed?: 'skip' | 'once' | 'each';
  /** Whether a run may start before the previous one has ended. Default false. */
  readonly overlap?: boolean;
  /** The part of the system that executes it: `fw:system:billing` for `billing`. Default `schedule`. */
  readonly principal?: string;
}

/** Runs an action without required params again and again, at the due times of its cron fields. */
export function FwSchedule(_options: FwScheduleOptions): Marker {
  return mark;
}

/** An event class as a value. */
interface EventClass {
  readonly name: string;
  readonly prototype: ModelEvent<unknown>;
}

/** How delivery runs a handler. */
export interface HandlerSettings {
  /** Earlier names, so that a rename keeps its checkpoints. Default none. */
  readonly aliases?: readonly string[];
  /** Maximum models handled in parallel, on each shard. Default 32. Ignored if `transactional`. */
  readonly concurrency?: number;
  /**
   * Attempts before an event becomes a dead letter, including the first. Default 16, which take 11 to 22 minutes; 5, less
   * than two seconds, if `transactional`.
   */
  readonly maximumAttempts?: number;
  /** Maximum first pause between attempts in milliseconds. It doubles with each attempt, up to 300,000. Default 100. */
  readonly retryDelayMs?: number;
  /**
   * Whether the handler writes only through `envelope.transaction`, which also moves its checkpoint: exactly once.
   * Default false.
   */
  readonly transactional?: boolean;
  /**
   * Tables that only this handler writes, without their schemas, each after those that it references: `fw-gen events
   * rebuild` makes their rows anew from the log. Requires `transactional`. Default: they cannot be rebuilt.
   */
  readonly projection?: readonly string[];
  /** Where a handler without a checkpoint on a shard begins. Default `beginning`. */
  readonly startFrom?: 'beginning' | 'now';
}

/** Options of `@FwEventHandler`. */
interface FwEventHandlerOptions extends HandlerSettings {
  /** Stable name: identifies its checkpoints and the keys of its actions. Default: the class name. */
  readonly name?: string;
  /** The events that it receives. Default: those in the type of `handle`'s envelope. */
  readonly event?: EventClass | readonly EventClass[];
}

/** Marks an event handler class: generated code registers it and wires its constructor. */
export function FwEventHandler(options?: FwEventHandlerOptions): Marker;
export function FwEventHandler(target: object, context?: ClassContext): void;
export function FwEventHandler(argument?: object): Marker | void {
  return markerFor(argument);
}

/** Marks a saga class: generated code registers it with the actions of its steps. */
export function FwSaga(): Marker;
export function FwSaga(target: object, context?: ClassContext): void;
export function FwSaga(argument?: object): Marker | void {
  return markerFor(argument);
}

/** HTTP methods of routes. */
type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A class or object with a static `from(result)` that converts an action's result to the response body. */
interface ResponseMapper {
  readonly name: string;
  from(result: never): object;
}

/** Options of `@HttpRoute`. */
interface HttpRouteOptions {
  /** Status of success. Default 200; 204 without a response body. */
  readonly status?: number;
  /**
   * Class with a static `from(result)` that creates the response body. Its fields become the schema of the response.
   */
  readonly response?: ResponseMapper;
  /** `Location` header, with fields of the response body in braces: `/wallets/{id}`. */
  readonly location?: string;
  /** Field of the response body whose value becomes the `ETag`: `version`. */
  readonly etag?: string;
  /** Id parameter of the model whose version `If-Match` refers to. Default: none, and `If-Match` is ignored. */
  readonly ifMatch?: string;
  /**
   * Id parameter in the path of a GET route. The events of its model are streamed to clients that request
   * `text/event-stream`. Default: none.
   */
  readonly feed?: string;
  /**
   * Maximum size of a request body in bytes; a larger one is answered with 413. Default: the server's
   * `limits.bodyBytes`, 65,536.
   */
  readonly bodyBytes?: number;
  /** Time limit of the execution, in milliseconds. Default: `fw.execution.timeout-ms`. */
  readonly timeoutMs?: number;
  /** Summary in the API document. Default: the first line of the class's comment. */
  readonly summary?: string;
  /** Tag in the API document. */
  readonly tag?: string;
  /** Example request body for the API document. */
  readonly example?: JsonValue;
}

/**
 * Serves an action over HTTP. Parameters in braces come from the path, the others from the body (for GET and DELETE
 * from the query).
 */
export function HttpRoute(_method: HttpMethod, _path: `/${string}`, _options?: HttpRouteOptions): Marker {
  return mark;
}
