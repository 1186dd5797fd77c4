import type { FieldDescriptor, FieldType } from '../domain/descriptor.js';
import type { Documenting } from '../domain/kinds/field-kind.js';
import { type JsonPart, membersOf, orNull } from '../domain/kinds/json-schema.js';
import { kindOf } from '../domain/kinds/kinds.js';

/** The schema of an object: closed, with standard keywords only. */
export function documentedObject(fields: readonly FieldDescriptor[], documenting: Documenting): JsonPart {
  const required = fields.filter(({ optional }) => optional !== true).map(({ name }) => name);
  return {
    type: 'object',
    properties: membersOf(fields.map((field) => [field.name, documentedField(field, documenting)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** The schema of one field, with its description. */
export function documentedField(field: FieldDescriptor, documenting: Documenting): JsonPart {
  const base = documentedType(field.type, documenting);
  const description = field.doc === undefined ? {} : { description: field.doc };
  if ('$ref' in base)
    return { ...description, ...(field.nullable === true ? orNull(base) : base), ...ruleKeywords(field) };
  const schema = { ...description, ...base, ...ruleKeywords(field) };
  return field.nullable === true ? orNull(schema) : schema;
}

/** Rules have the names of their JSON Schema keywords. */
function ruleKeywords({ rules = {}, default: absent }: FieldDescriptor): JsonPart {
  const { integer, ...keywords } = rules;
  return {
    ...(integer === true ? { type: 'integer' } : {}),
    ...keywords,
    ...(absent === undefined ? {} : { default: absent }),
  };
}

/** The schema of a type without a description. */
export function documentedType(type: FieldType, documenting: Documenting): JsonPart {
  return kindOf(type).schema(type, {
    ...documenting,
    part: (inner) => documentedType(inner, documenting),
    object: (fields) => documentedObject(fields, documenting),
  });
}
