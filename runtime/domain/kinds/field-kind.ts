import type { FieldDescriptor, FieldType, ObjectType } from '../descriptor.js';
import type { JsonValue } from '../json.js';
import type { ValueRules } from '../value-rules.js';
import type { Json, JsonPart } from './json-schema.js';

/** Converts one value of a known type to JSON text. */
export type JsonWriter<T> = (value: T) => string;

/** Converts JSON from a writer of the same type to the value that the writer received. */
export type JsonReader<T> = (json: JsonValue) => T;

/** The kinds of values in JSON, by which a union distinguishes its members. */
export type JsonKind = 'string' | 'number' | 'boolean' | 'array' | 'object';

/** The context in which a type is compiled. */
export interface Compiling<Compiled> {
  /** Name of the field, for messages. */
  readonly name: string;
  /** Compiles a type inside of this one. @param name of its field. Default: that of this type */
  readonly part: (type: FieldType, name?: string) => Compiled;
  /** Compiles the content of a recursive type; `again` is the compiled form of the references to it. */
  readonly recursive: (type: TypeOf<'recursive'>, again: Compiled) => Compiled;
  /** The compiled form of the enclosing recursive type with this name. */
  readonly again: (name: string) => Compiled | undefined;
  /** Chooses the compiled member of a union that a value belongs to. */
  readonly chooser: (type: TypeOf<'union'>) => Chooser<Compiled>;
}

/** Chooses the part of a compiled union that a value belongs to; undefined if there is none. */
export type Chooser<Part> = (value: unknown) => Part | undefined;

/** The context of a schema in the OpenAPI document. */
export interface Documenting {
  /** Requests accept more than responses contain: a decimal as text or as a number. */
  readonly direction: 'request' | 'response';
  /** A reference to the schema of a currency. */
  readonly currency: () => JsonPart;
  /** A reference to the schema of a named object; undefined to inline it. */
  readonly named: (type: ObjectType) => JsonPart | undefined;
  /** A reference to the schema of an object with this discriminator in its union. */
  readonly variant: (type: ObjectType, tag: string) => JsonPart;
  /** A reference to the schema of a type that contains itself. */
  readonly recursive: (type: TypeOf<'recursive'>) => JsonPart;
  /** A reference to the schema of the enclosing recursive type with this name. */
  readonly again: (name: string) => JsonPart;
}

/** The context of a type's schema. */
export interface SchemaContext extends Documenting {
  /** The schema of a type inside of this one. */
  readonly part: (type: FieldType) => JsonPart;
  /** The schema of an object with these fields, in place. */
  readonly object: (fields: readonly FieldDescriptor[]) => JsonPart;
}

/** The order of a column's values, as the database sorts them. */
export type ColumnOrder = 'text' | 'uuid' | 'integer' | 'double' | 'numeric' | 'boolean' | 'time';

/** A column with values of one kind that is no document. */
export interface ColumnKind {
  /** Normal spelling of the SQL type that the generator gives the column. */
  readonly sqlType: string;
  readonly order: ColumnOrder;
  /** Returns the text of a parameter. @throws ValidationError, naming the field, if a value does not fit */
  text(field: string): (value: unknown) => string;
  /** The text may need quotes in an array literal. Default false. */
  readonly isQuoted?: true;
  /** A text without any special character may be refused, too. Default false. */
  readonly isLimited?: true;
  /** Converts the driver's value, which is never null. Default: unchanged. */
  readonly fromDriver?: (value: unknown) => unknown;
  /** Whether the server certainly stores a value for which there is a text. Default: always. */
  readonly isStorable?: (value: unknown) => boolean;
  /** Two values have the same text exactly if the database treats them as equal. Default: `String`. */
  readonly keyText?: (value: unknown) => string;
}

/** Everything that the runtime knows about one kind of field types. */
export interface FieldKind<T extends FieldType> {
  writer(type: T, compiling: Compiling<JsonWriter<unknown>>): JsonWriter<unknown>;
  reader(type: T, compiling: Compiling<JsonReader<unknown>>): JsonReader<unknown>;
  /** Default: a text. */
  jsonKind?(type: T, jsonKindOf: (type: FieldType) => JsonKind): JsonKind;
  /** The types directly inside of the type. Default none. */
  parts?(type: T): readonly FieldType[];
  /** In JSON, a text stands for the value. Default: JSON has the value itself, or its parts. */
  readonly isText?: true;
  /** Its column; undefined or absent: a JSON document. */
  column?(type: T): ColumnKind | undefined;
  /** Whether a value of unknown origin, such as a claim, can be compared with a column. Default: no value can. */
  isValue?(value: unknown, type: T): boolean;
  /** The schema without a description. */
  schema(type: T, context: SchemaContext): JsonPart;
  /** An example value. @param name of the field */
  example(type: T, name: string, part: (type: FieldType, name?: string, rules?: ValueRules) => Json): Json;
}

export type KindName = FieldType['kind'];
export type TypeOf<K extends KindName> = Extract<FieldType, { readonly kind: K }>;
