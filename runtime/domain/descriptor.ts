import type { ModelClass } from './id.js';
import type { JsonObject, JsonValue } from './json.js';
import type { ModelEvent } from './model-event.js';
import type { ValueRules } from './value-rules.js';

/**
 * The type of one field, as plain data. Emitted code is made of these; codecs for rows, payloads, params and
 * results are made from them once, at start.
 */
export type FieldType =
  | { readonly kind: 'string' }
  /** A double; in a row `double precision`. */
  | { readonly kind: 'number' }
  | { readonly kind: 'bigint' }
  | { readonly kind: 'boolean' }
  /** A `Date`; in a row `timestamptz`, in JSON an ISO 8601 text in UTC with milliseconds. */
  | { readonly kind: 'instant' }
  /** A `Decimal`; in a row `numeric(precision, scale)`, in JSON a string in plain notation. */
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'uuid' }
  /** An ISO 4217 code; in a row `char(3)`. */
  | { readonly kind: 'currency' }
  /** An `Id<Model>` or, if `sharded`, a `ShardedId<Model>`; in a row `uuid`. */
  | { readonly kind: 'id'; readonly model: string; readonly sharded: boolean }
  /** A union of literals or an enum; in a row `text`, `double precision`, `boolean`, or `jsonb` for a mixture. */
  | { readonly kind: 'enum'; readonly values: readonly (string | number | boolean)[] }
  /** Any JSON value; in a row `jsonb`. */
  | { readonly kind: 'json' }
  /** Lists and all below are `jsonb` in a row. `nullable`: items may be null. */
  | { readonly kind: 'list'; readonly of: FieldType; readonly nullable?: true }
  | { readonly kind: 'tuple'; readonly items: readonly ItemDescriptor[]; readonly rest?: ItemDescriptor }
  /** An object with any keys and values of one type. `nullable`: values may be null. */
  | { readonly kind: 'record'; readonly of: FieldType; readonly nullable?: true }
  /**
   * One of several types. In JSON they are discriminated by the kind of the value, and objects by the literal in the
   * field `discriminator`; absent where there is one object type at most.
   */
  | { readonly kind: 'union'; readonly of: readonly FieldType[]; readonly discriminator?: string }
  /**
   * A type that contains itself: `again` stands for it below, by its name. `tags`: values of the discriminator that
   * tell it from the other members of its union.
   */
  | { readonly kind: 'recursive'; readonly name: string; readonly of: FieldType }
  | {
      readonly kind: 'again';
      readonly name: string;
      readonly tags?: readonly (string | number | boolean)[];
    }
  | ObjectType;

/** One place of a tuple. */
export interface ItemDescriptor {
  readonly type: FieldType;
  /** May be absent, with all places behind it. Default false. */
  readonly optional?: true;
  /** May be null. Default false. */
  readonly nullable?: true;
}

/** An object with these fields and no others. */
export interface ObjectType {
  readonly kind: 'object';
  readonly fields: readonly FieldDescriptor[];
  /** Names its schema in the OpenAPI document. Default: the schema is written where it is used. */
  readonly name?: string;
  /** What the object is, for the OpenAPI document. */
  readonly doc?: string;
}

/** One field of an event, of params, of a response or of a nested object. */
export interface FieldDescriptor {
  readonly name: string;
  readonly type: FieldType;
  /** May be absent (`name?: T`). Default false. */
  readonly optional?: true;
  /** May be null (`name: T | null`). Default false. */
  readonly nullable?: true;
  /** Never stored in `eventlog.actions` and never logged. Default false. */
  readonly secret?: true;
  /** What a request's value must fulfil. Default nothing. */
  readonly rules?: ValueRules;
  /** What an absent value of a request stands for, as JSON. Default: it stays absent. */
  readonly default?: JsonValue;
  /** Name that messages about a request use. Default: `name`. */
  readonly label?: string;
  /** What the field means, for the OpenAPI document. */
  readonly doc?: string;
}

/** One field of a model and the column that holds it. */
export interface ColumnDescriptor {
  /** Property of the model. */
  readonly field: string;
  /** Column of the table. */
  readonly column: string;
  readonly type: FieldType;
  /** SQL type of the column, as migrations and statements spell it: `numeric(19,4)`. */
  readonly sqlType: string;
  /** The property may be `undefined` (`field?: T`); the column then allows null. Default false. */
  readonly optional?: true;
  /** The property may be null; the column then allows null. Default false. */
  readonly nullable?: true;
  /** What `build` checks of each value. Rows that are read are not checked. Default nothing. */
  readonly rules?: ValueRules;
  /** Name that messages use. Default: that of the property. */
  readonly label?: string;
}

/** Fields whose values no two models have in common on one shard. */
export interface NaturalKey {
  /** Name of the unique index: how the database names the key that a statement violates. */
  readonly index: string;
  /** In the order of the index. None of them may be empty. */
  readonly fields: readonly string[];
}

/** What the runtime must know about an event class; emitted by the generator. */
export interface EventDescriptor {
  /** Simple name of the class: `event_type` in the outbox. */
  readonly name: string;
  /** Simple name of the model class. */
  readonly model: string;
  readonly eventClass: () => ModelClass<ModelEvent<unknown>>;
  /** Version of the payload's shape. Default 1. */
  readonly version?: number;
  /**
   * Turns payloads of older versions into those of the next: the first one turns version 1 into version 2. Default: the
   * class's static `upcasters`, if it has any.
   */
  readonly upcasters?: readonly Upcaster[];
  readonly fields: readonly FieldDescriptor[];
}

/**
 * Turns the payload of one version of an event, or the stored params of one version of an action, into that of the next
 * one. Must not change its argument.
 */
export type Upcaster = (payload: JsonObject) => JsonObject;
