import type { ModelClass } from './id.js';
import type { JsonObject, JsonValue } from './json.js';
import type { ModelEvent } from './model-event.js';
import type { ValueRules } from './value-rules.js';

/**
 * The type of one field, as plain data. Emitted code contains these types; codecs for rows, payloads, params and
 * results are compiled from them once, at start.
 */
export type FieldType =
  | { readonly kind: 'string' }
  /** A double; `double precision` in a row. */
  | { readonly kind: 'number' }
  | { readonly kind: 'bigint' }
  | { readonly kind: 'boolean' }
  /** A `Date`; `timestamptz` in a row, ISO 8601 text in UTC with milliseconds in JSON. */
  | { readonly kind: 'instant' }
  /** A `Decimal`; `numeric(precision, scale)` in a row, text in plain notation in JSON. */
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'uuid' }
  /** An ISO 4217 code; `char(3)` in a row. */
  | { readonly kind: 'currency' }
  /** An `Id<Model>` or, if `sharded`, a `ShardedId<Model>`; `uuid` in a row. */
  | { readonly kind: 'id'; readonly model: string; readonly sharded: boolean }
  /**
   * A union of literals or an enum; in a row `text`, `double precision`, `boolean`, or `jsonb` if the values have
   * several types.
   */
  | { readonly kind: 'enum'; readonly values: readonly (string | number | boolean)[] }
  /** Any JSON value; `jsonb` in a row. */
  | { readonly kind: 'json' }
  /** A list. Lists and all types below are `jsonb` in a row. `nullable`: items may be null. */
  | { readonly kind: 'list'; readonly of: FieldType; readonly nullable?: true }
  | { readonly kind: 'tuple'; readonly items: readonly ItemDescriptor[]; readonly rest?: ItemDescriptor }
  /** An object with any keys and values of one type. `nullable`: values may be null. */
  | { readonly kind: 'record'; readonly of: FieldType; readonly nullable?: true }
  /**
   * One of several types. In JSON they are distinguished by the kind of the value, and objects by the literal in the
   * field `discriminator`, which is absent if there is at most one object type.
   */
  | { readonly kind: 'union'; readonly of: readonly FieldType[]; readonly discriminator?: string }
  /**
   * A type that contains itself: `again` refers to it by name within it. `tags`: discriminator values that distinguish
   * it from the other members of its union.
   */
  | { readonly kind: 'recursive'; readonly name: string; readonly of: FieldType }
  | {
      readonly kind: 'again';
      readonly name: string;
      readonly tags?: readonly (string | number | boolean)[];
    }
  | ObjectType;

/** One element of a tuple. */
export interface ItemDescriptor {
  readonly type: FieldType;
  /** May be absent, together with all later elements. Default false. */
  readonly optional?: true;
  /** May be null. Default false. */
  readonly nullable?: true;
}

/** An object with these fields and no others. */
export interface ObjectType {
  readonly kind: 'object';
  readonly fields: readonly FieldDescriptor[];
  /** Name of its schema in the OpenAPI document. Default: the schema is inlined. */
  readonly name?: string;
  /** Description for the OpenAPI document. */
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
  /** Rules for a request's value. Default none. */
  readonly rules?: ValueRules;
  /** Default for an absent value of a request, as JSON. Absent: the value stays absent. */
  readonly default?: JsonValue;
  /** Name in messages about a request. Default: `name`. */
  readonly label?: string;
  /** Description for the OpenAPI document. */
  readonly doc?: string;
}

/** One field of a model and the column that holds it. */
export interface ColumnDescriptor {
  /** Property of the model. */
  readonly field: string;
  /** Column of the table. */
  readonly column: string;
  readonly type: FieldType;
  /** SQL type of the column, as in migrations and statements: `numeric(19,4)`. */
  readonly sqlType: string;
  /** The property may be `undefined` (`field?: T`); the column then allows null. Default false. */
  readonly optional?: true;
  /** The property may be null; the column then allows null. Default false. */
  readonly nullable?: true;
  /** Rules that `build` checks. Rows that are read are not checked. Default none. */
  readonly rules?: ValueRules;
  /** Name in messages. Default: the property's name. */
  readonly label?: string;
}

/** Fields whose values are unique among the models of one shard. */
export interface NaturalKey {
  /** Name of the unique index, which the database reports for a violation. */
  readonly index: string;
  /** In the order of the index. None of them may be null or absent. */
  readonly fields: readonly string[];
}

/** An event class as the runtime uses it; emitted by the generator. */
export interface EventDescriptor {
  /** Stable name: `event_type` in the outbox. */
  readonly name: string;
  /** Earlier stable names, under which events may be stored. Default none. */
  readonly aliases?: readonly string[];
  /** Stable name of the model. */
  readonly model: string;
  readonly eventClass: () => ModelClass<ModelEvent<unknown>>;
  /** Version of the payload's format. Default 1. */
  readonly version?: number;
  /**
   * Functions that convert payloads of older versions to the next one: the first converts version 1 to version 2.
   * Default: the class's static `upcasters`, if any.
   */
  readonly upcasters?: readonly Upcaster[];
  readonly fields: readonly FieldDescriptor[];
}

/**
 * Converts the payload of one version of an event, or the stored params of one version of an action, to the next
 * version. Must not change its argument.
 */
export type Upcaster = (payload: JsonObject) => JsonObject;
