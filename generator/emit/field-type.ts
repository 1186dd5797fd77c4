import { parseNumeric } from '../schema/columns.js';
import { constraintsOf, DEFAULT_NUMERIC, numericOf } from '../schema/constraints.js';
import { innermost } from '../schema/fields.js';
import type { ModelSchema } from '../schema/project-schema.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import type { NumericType } from '../schema/value-rules.js';
import { at, type Code } from './print/code.js';

/** Tells which models have sharded ids. */
export type ShardedModels = (name: string) => boolean;

/** From the models of a project. */
export function shardedModels(models: readonly ModelSchema[]): ShardedModels {
  const names = new Set(models.filter((model) => model.sharded).map((model) => model.name));
  return (name) => names.has(name);
}

/** Gives the fields of an object by a name; undefined to write them in place. */
export type NamedFields = (type: Extract<TypeSchema, { kind: 'object' }>) => Code | undefined;

const inPlace: NamedFields = () => undefined;

/** The runtime's `FieldType` of a field, as data. */
export function fieldTypeOf(
  field: FieldSchema,
  isSharded: ShardedModels,
  sqlType?: string,
  named: NamedFields = inPlace,
): Code {
  return typeOf(field.type, isSharded, numericType(field, sqlType), named);
}

/** Digits of a decimal, or of the decimals in a list; of no meaning for other types. */
function numericType(field: FieldSchema, sqlType: string | undefined): NumericType {
  if (innermost(field.type).kind !== 'decimal') return DEFAULT_NUMERIC;
  return (sqlType === undefined ? undefined : parseNumeric(sqlType)) ?? numericOf(field);
}

/** The runtime's `FieldType` of a type that stands for itself (an item, a result). */
export function plainFieldType(type: TypeSchema, isSharded: ShardedModels): Code {
  return typeOf(type, isSharded, DEFAULT_NUMERIC, inPlace);
}

/** The runtime's `FieldDescriptor`s. */
export function fieldDescriptors(
  fields: readonly FieldSchema[],
  isSharded: ShardedModels,
  named: NamedFields = inPlace,
): readonly Code[] {
  return fields.map((field) =>
    at(field.location, {
      name: field.name,
      type: fieldTypeOf(field, isSharded, undefined, named),
      optional: field.optional || undefined,
      nullable: field.nullable || undefined,
      secret: constraintsOf(field).constraints.secret,
    }),
  );
}

/** `optional` and `nullable`, where true. */
export function flags(field: Pick<FieldSchema, 'optional' | 'nullable'>): {
  readonly [key: string]: Code | undefined;
} {
  return { optional: field.optional || undefined, nullable: field.nullable || undefined };
}

function typeOf(type: TypeSchema, isSharded: ShardedModels, numeric: NumericType, named: NamedFields): Code {
  switch (type.kind) {
    case 'decimal':
      return { kind: 'decimal', precision: numeric.precision, scale: numeric.scale };
    case 'id':
      // An `Id<Wallet>` of a sharded model carries its shard, whichever way it is spelled.
      return { kind: 'id', model: type.model.name, sharded: isSharded(type.model.name) };
    case 'enum':
      return { kind: 'enum', values: type.values };
    case 'list':
      return { kind: 'list', of: typeOf(type.of, isSharded, numeric, named) };
    case 'object':
      return { kind: 'object', fields: named(type) ?? fieldDescriptors(type.fields, isSharded, named) };
    case 'model':
    case 'void':
    case 'unsupported':
      throw new Error(`No field can be of kind ${type.kind}: the checks let it pass`);
    default:
      return { kind: type.kind };
  }
}
