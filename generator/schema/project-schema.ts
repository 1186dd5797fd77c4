import type { JsonValue } from '../../runtime/domain/json.js';
import type { Reference, SourceLocation } from './location.js';
import type { FieldSchema, ModelReference, TypeSchema } from './type-schema.js';

export type { JsonValue } from '../../runtime/domain/json.js';

/** All declarations of the sources, as plain readonly data with locations. */
export interface ProjectSchema {
  readonly models: readonly ModelSchema[];
  /** Names of the classes that a mistake keeps from being models. What depends on them is reported once they are. */
  readonly refusedModels: readonly string[];
  readonly events: readonly EventSchema[];
  readonly actions: readonly ActionSchema[];
  readonly handlers: readonly HandlerSchema[];
  readonly sagas: readonly SagaSchema[];
  readonly repositories: readonly RepositorySchema[];
  /** Sorted by name. */
  readonly migrations: readonly MigrationFile[];
}

/** The name of a model or event in stored data. */
export function storedNameOf({ name, storedName = name }: Pick<EventSchema, 'name' | 'storedName'>): string {
  return storedName;
}

/** A class marked with `@AutoBuilder`. */
export interface ModelSchema {
  /** Name of the class. */
  readonly name: string;
  /** Stable name in stored data, if its decorator has one. */
  readonly storedName?: string;
  /** Project-relative path of its file. */
  readonly file: string;
  readonly location: SourceLocation;
  readonly description?: string;
  /** Its base class. */
  readonly kind: 'model' | 'entity';
  /** Its id is a `ShardedId`. */
  readonly sharded: boolean;
  /** A string, or an enum of its states. */
  readonly state: TypeSchema;
  /** Its own fields, in source order, without the fields of the base class. */
  readonly fields: readonly FieldSchema[];
  readonly table?: Located<string>;
  readonly columns: readonly ColumnOption[];
  readonly deletedStates: readonly Located<string>[];
  /** How concurrent changes of one model are combined. Default: as the runtime decides. */
  readonly chaining?: boolean;
  readonly folding?: boolean;
  /** Natural keys; the key without a name is the first. Default: none. */
  readonly keys?: readonly KeySchema[];
}

/** Fields with the same name of `@Key`. */
export interface KeySchema {
  /** Default: the key without a name. */
  readonly name?: string;
  /** In source order. */
  readonly fields: readonly Located<string>[];
}

/** One entry of `@AutoBuilder({ columns })`. */
export interface ColumnOption {
  readonly field: string;
  readonly name?: string;
  readonly type?: string;
  readonly location: SourceLocation;
}

/** A value with its location. */
export interface Located<T> {
  readonly value: T;
  readonly location: SourceLocation;
}

/** A class that extends `ModelEvent`. */
export interface EventSchema {
  /** Name of the class. */
  readonly name: string;
  /** Stable name in stored data, if its decorator has one. */
  readonly storedName?: string;
  /** Earlier stable names. Default none. */
  readonly aliases?: readonly string[];
  readonly file: string;
  readonly location: SourceLocation;
  readonly description?: string;
  readonly model: ModelReference;
  readonly fields: readonly FieldSchema[];
  /** `@version` of its comment. */
  readonly version?: number;
  /** Its comment has `@deprecated`: only older releases have emitted it. */
  readonly isDeprecated?: true;
  /** Number of its upcasters; `uncounted` if the source does not state it. */
  readonly upcasters: number | 'uncounted';
}

/** The options of `@FwSchedule`. */
export interface ScheduleSchema {
  readonly cron: string;
  readonly zone?: string;
  readonly on?: 'once' | 'each-shard';
  readonly missed?: 'skip' | 'once' | 'each';
  readonly overlap?: boolean;
  readonly principal?: string;
}

/** A class marked with `@FwAction`. */
export interface ActionSchema {
  /** Name of the class. */
  readonly className: string;
  /** Stable name: that of the decorator, else of the class. */
  readonly name: string;
  readonly file: string;
  readonly location: SourceLocation;
  readonly description?: string;
  readonly params: readonly FieldSchema[];
  readonly result: TypeSchema;
  readonly resultOptional: boolean;
  readonly resultNullable: boolean;
  readonly collaborators: readonly CollaboratorSchema[];
  /** `@version` of its comment: the version of its params. */
  readonly version?: number;
  /** Number of its upcasters; `uncounted` if the source does not state it. Default: none. */
  readonly upcasters?: number | 'uncounted';
  /** Its comment has `@crossShard`: the journal may store its params. */
  readonly isCrossShard?: true;
  /** Actions that its class schedules. Default: none. */
  readonly schedules?: readonly ClassReference[];
  readonly route?: RouteSchema;
  readonly schedule?: ScheduleSchema;
  /**
   * Authorization: every caller, or only callers that a rule allows. Undefined if neither its class nor a base class
   * has `@Allow`.
   */
  readonly rule?: 'everyone' | 'some';
}

/** A class marked with `@FwEventHandler`. */
export interface HandlerSchema {
  /** Name of the class. */
  readonly className: string;
  /** Stable name: that of the decorator, else of the class. */
  readonly name: string;
  readonly file: string;
  readonly location: SourceLocation;
  readonly events: readonly EventReference[];
  readonly options: HandlerOptions;
  readonly collaborators: readonly CollaboratorSchema[];
}

/** An event class in a handler's list. */
export interface EventReference {
  readonly name: string;
  readonly file: string;
  /** Location in the handler. */
  readonly location: SourceLocation;
}

/** A class of the project. */
export interface ClassReference {
  readonly name: string;
  /** Project-relative path. */
  readonly file: string;
}

/** Options of `@FwEventHandler` besides name and events. Undefined: the runtime's default. */
export interface HandlerOptions {
  readonly aliases?: readonly string[];
  readonly concurrency?: number;
  readonly maximumAttempts?: number;
  readonly retryDelayMs?: number;
  readonly transactional?: boolean;
  readonly projection?: readonly string[];
  readonly startFrom?: 'beginning' | 'now';
}

/** A class marked with `@FwSaga`. */
export interface SagaSchema {
  /** Name of the class. */
  readonly className: string;
  /** Stable name: that of its property `name`, else of the class. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly file: string;
  readonly location: SourceLocation;
  /** The model of its state; undefined if the type is not a class of the project. */
  readonly state: ModelReference | undefined;
  readonly stateLocation: SourceLocation;
  /** Actions of its steps. Default: none. */
  readonly stepActions?: readonly ClassReference[];
}

/** One constructor parameter of an action or handler. */
export interface CollaboratorSchema {
  readonly name: string;
  readonly location: SourceLocation;
  readonly wiring: Wiring;
}

/** Source of a constructor argument. */
export type Wiring =
  | { readonly kind: 'clock' }
  | { readonly kind: 'event-history' }
  | { readonly kind: 'placement' }
  /** A repository class of the project. */
  | { readonly kind: 'repository'; readonly name: string; readonly file: string }
  /** The default repository that is emitted for a model. */
  | { readonly kind: 'default-repository'; readonly name: string; readonly file: string }
  /** The application supplies it. */
  | { readonly kind: 'supplied'; readonly type: SuppliedType; readonly optional: boolean };

/** The type of a supplied collaborator. */
export type SuppliedType =
  | { readonly kind: 'named'; readonly reference: Reference }
  /** `string`, `number` and the like. */
  | { readonly kind: 'keyword'; readonly text: string }
  /** A complex type, referred to through the constructor. */
  | { readonly kind: 'parameter'; readonly text: string; readonly index: number };

/** `@HttpRoute` of an action. */
export interface RouteSchema {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly location: SourceLocation;
  readonly status?: Located<number>;
  readonly response?: ResponseSchema;
  readonly responseLocation?: SourceLocation;
  readonly locationHeader?: Located<string>;
  readonly etag?: Located<string>;
  readonly ifMatch?: Located<string>;
  readonly feed?: Located<string>;
  readonly bodyBytes?: number;
  readonly timeoutMs?: number;
  readonly summary?: string;
  readonly tag?: string;
  readonly example?: JsonValue;
}

/** A class with a static `from`. */
export interface ResponseSchema {
  readonly name: string;
  readonly file: string;
  readonly description?: string;
  readonly fields: readonly FieldSchema[];
}

/** A class that extends `Repository<Model, ...>`. */
export interface RepositorySchema {
  readonly name: string;
  readonly file: string;
  readonly location: SourceLocation;
  readonly model: ModelReference;
}

/** An `.sql` file in the migrations folder. */
export interface MigrationFile {
  /** Project-relative path. */
  readonly file: string;
  /** File name without extension: `20260301090000_create_wallets`. */
  readonly name: string;
  /** SQL exactly as the application sends it. */
  readonly up: string;
  /** The last migration that existed when this one was written; '' for the first one; undefined: not declared. */
  readonly after?: string;
  /** Tables that it touches; undefined: not declared. */
  readonly tables?: readonly string[];
  /** Tables that it creates, also by another name than before. */
  readonly creates: readonly string[];
  /** Tables that it drops, or that have another name after it. */
  readonly drops: readonly string[];
}
