import { type Constraints, constraintsOf } from '../schema/constraints.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { fieldTypeOf, plainFieldType, type ShardedModels } from './field-type.js';
import { at, type Code, Members } from './print/code.js';

/** A schema under construction. */
export type SchemaCode = { readonly [keyword: string]: Code | undefined };

/**
 * The schema that a server checks params with: standard keywords, `fw` (the field type that values are converted to)
 * on every leaf that JSON has no type of its own for, and `fwLabel`.
 */
export function paramsSchema(fields: readonly FieldSchema[], isSharded: ShardedModels): SchemaCode {
  return objectSchema(fields, (field) => fieldSchema(field, isSharded));
}

/** A closed object. `ofField` makes the schema of each property. */
export function objectSchema(
  fields: readonly FieldSchema[],
  ofField: (field: FieldSchema) => Code,
): SchemaCode {
  const required = fields.filter((field) => !field.optional).map((field) => field.name);
  return {
    type: 'object',
    properties: new Members(fields.map((field) => [field.name, at(field.location, ofField(field))])),
    required: required.length === 0 ? undefined : required,
    additionalProperties: false,
  };
}

/** Standard keywords that tags of a comment set. */
export function constraintKeywords(constraints: Constraints): SchemaCode {
  const { minLength, maxLength, pattern, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = constraints;
  return {
    minLength,
    maxLength,
    pattern,
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    default: constraints.default,
  };
}

/** Adds null to what a schema with a `type` allows. */
export function allowNull(schema: SchemaCode): SchemaCode {
  const { type, enum: values } = schema;
  const types = Array.isArray(type) ? type : type === undefined ? undefined : [type];
  return {
    ...schema,
    ...(types === undefined ? {} : { type: [...types, 'null'] }),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}

function fieldSchema(field: FieldSchema, isSharded: ShardedModels): SchemaCode {
  const { constraints } = constraintsOf(field);
  const base = typeSchema(field.type, isSharded, fieldTypeOf(field, isSharded));
  if (field.tags.length === 0) return field.nullable ? allowNull(base) : base;
  const schema = {
    ...base,
    ...(constraints.integer === true ? { type: 'integer' } : {}),
    ...constraintKeywords(constraints),
    fwLabel: constraints.label,
  };
  return field.nullable ? allowNull(schema) : schema;
}

function typeSchema(type: TypeSchema, isSharded: ShardedModels, fw: Code): SchemaCode {
  switch (type.kind) {
    case 'string':
    case 'boolean':
      return { type: type.kind };
    case 'enum':
      return { type: 'string', enum: type.values };
    case 'number':
      return { type: 'number', fw };
    case 'bigint':
      return { type: ['string', 'integer'], fw };
    case 'decimal':
      return { type: ['string', 'number'], fw };
    case 'instant':
    case 'uuid':
    case 'currency':
    case 'id':
      return { type: 'string', fw };
    case 'list':
      return { type: 'array', items: typeSchema(type.of, isSharded, plainFieldType(type.of, isSharded)) };
    case 'object':
      return paramsSchema(type.fields, isSharded);
    default:
      return { fw };
  }
}
