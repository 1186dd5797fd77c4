import { defined } from './defined.js';
import type {
  ColumnDescriptor,
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  ObjectType,
} from './descriptor.js';
import type { ValueRules } from './value-rules.js';

/** A field without its name. */
export type UnnamedField = Omit<FieldDescriptor, 'name'>;

/** Fields by name, in order. */
type FieldMap = Readonly<Record<string, UnnamedField>>;

/** Everything about a field except its type. A field with a default is optional. */
type FieldOptions = ValueRules & Omit<UnnamedField, 'type' | 'rules'>;

/** Functions for fields, as emitted code calls them: `t.decimal(19, 4, { optional: true, minimum: 0 })`. */
interface FieldTypes {
  string(options?: FieldOptions): UnnamedField;
  number(options?: FieldOptions): UnnamedField;
  bigint(options?: FieldOptions): UnnamedField;
  boolean(options?: FieldOptions): UnnamedField;
  instant(options?: FieldOptions): UnnamedField;
  uuid(options?: FieldOptions): UnnamedField;
  currency(options?: FieldOptions): UnnamedField;
  json(options?: FieldOptions): UnnamedField;
  decimal(precision: number, scale: number, options?: FieldOptions): UnnamedField;
  /** An `Id` of this model. */
  id(model: string, options?: FieldOptions): UnnamedField;
  /** A `ShardedId` of this model. */
  shardedId(model: string, options?: FieldOptions): UnnamedField;
  enum(values: readonly (string | number | boolean)[], options?: FieldOptions): UnnamedField;
  /** `of` may be nullable. */
  list(of: UnnamedField, options?: FieldOptions): UnnamedField;
  /** An object with any keys. `of` may be nullable. */
  record(of: UnnamedField, options?: FieldOptions): UnnamedField;
  /** Elements may be nullable, and the last ones optional. */
  tuple(items: readonly UnnamedField[], options?: FieldOptions): UnnamedField;
  /** A tuple with any number of further elements of one type. */
  openTuple(items: readonly UnnamedField[], rest: UnnamedField, options?: FieldOptions): UnnamedField;
  /** One of several types, distinguished by the kind of the JSON value. */
  union(of: readonly UnnamedField[], options?: FieldOptions): UnnamedField;
  /** One of several types, whose objects are distinguished by the literal in a field. */
  unionBy(discriminator: string, of: readonly UnnamedField[], options?: FieldOptions): UnnamedField;
  /** A type that contains itself; `again` refers to it. */
  recursive(name: string, of: UnnamedField, options?: FieldOptions): UnnamedField;
  again(name: string, options?: FieldOptions): UnnamedField;
  /** A reference to a recursive type as a member of a union, distinguished from the others by these values. */
  againBy(name: string, tags: readonly (string | number | boolean)[], options?: FieldOptions): UnnamedField;
  object(of: FieldMap | ObjectType, options?: FieldOptions): UnnamedField;
}

const plain =
  (kind: 'string' | 'number' | 'bigint' | 'boolean' | 'instant' | 'uuid' | 'currency' | 'json') =>
  (options?: FieldOptions): UnnamedField =>
    field({ kind }, options);

/** The field functions that emitted code uses. */
export const t: FieldTypes = {
  string: plain('string'),
  number: plain('number'),
  bigint: plain('bigint'),
  boolean: plain('boolean'),
  instant: plain('instant'),
  uuid: plain('uuid'),
  currency: plain('currency'),
  json: plain('json'),
  decimal: (precision, scale, options) => field({ kind: 'decimal', precision, scale }, options),
  id: (model, options) => field({ kind: 'id', model, sharded: false }, options),
  shardedId: (model, options) => field({ kind: 'id', model, sharded: true }, options),
  enum: (values, options) => field({ kind: 'enum', values }, options),
  list: (of, options) => field({ kind: 'list', ...itemType(of) }, options),
  record: (of, options) => field({ kind: 'record', ...itemType(of) }, options),
  tuple: (items, options) => field({ kind: 'tuple', items: items.map(itemOf) }, options),
  openTuple: (items, rest, options) =>
    field({ kind: 'tuple', items: items.map(itemOf), rest: itemOf(rest) }, options),
  union: (of, options) => field({ kind: 'union', of: of.map(({ type }) => type) }, options),
  unionBy: (discriminator, of, options) =>
    field({ kind: 'union', discriminator, of: of.map(({ type }) => type) }, options),
  recursive: (name, { type }, options) => field({ kind: 'recursive', name, of: type }, options),
  again: (name, options) => field({ kind: 'again', name }, options),
  againBy: (name, tags, options) => field({ kind: 'again', name, tags }, options),
  object: (of, options) =>
    field(isObjectType(of) ? of : { kind: 'object', fields: namedFields(of) }, options),
};

function itemType({ type, nullable }: UnnamedField): { readonly of: FieldType; readonly nullable?: true } {
  return { of: type, ...(nullable === true ? { nullable } : {}) };
}

function itemOf({ type, nullable, optional }: UnnamedField): ItemDescriptor {
  return {
    type,
    ...(nullable === true ? { nullable } : {}),
    ...(optional === true ? { optional } : {}),
  };
}

/** Gives each field its name. */
export function namedFields(fields: FieldMap): readonly FieldDescriptor[] {
  return Object.entries(fields).map(([name, each]) => ({ name, ...each }));
}

/** An object with its own schema in the OpenAPI document. */
export function objectType({
  fields,
  ...named
}: {
  readonly name: string;
  readonly doc?: string;
  readonly fields: FieldMap;
}): ObjectType {
  return { kind: 'object', ...named, fields: namedFields(fields) };
}

/** A field of a model with its column and the column's SQL type. */
export function column(
  name: string,
  stored: { readonly column: string; readonly sqlType: string },
  { type, optional, nullable, rules, label }: UnnamedField,
): ColumnDescriptor {
  return { field: name, ...stored, type, ...defined({ optional, nullable, rules, label }) };
}

function field(type: FieldType, options: FieldOptions = {}): UnnamedField {
  const { optional, nullable, secret, default: absent, label, doc, ...rules } = options;
  return {
    type,
    ...(optional === undefined && absent === undefined ? {} : { optional: true }),
    ...defined({ nullable, secret, default: absent, label, doc }),
    ...(Object.keys(rules).length === 0 ? {} : { rules }),
  };
}

/** Params may have a field named `kind`, but its value is not a string. */
function isObjectType(of: FieldMap | ObjectType): of is ObjectType {
  return typeof of.kind === 'string';
}
