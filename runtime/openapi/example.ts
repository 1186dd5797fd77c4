import type { FieldDescriptor, FieldType } from '../domain/descriptor.js';
import { exampleFields } from '../domain/kinds/document-kinds.js';
import type { Json, JsonPart } from '../domain/kinds/json-schema.js';
import { kindOf } from '../domain/kinds/kinds.js';

/** An example response with these fields. */
export function exampleOf(fields: readonly FieldDescriptor[]): JsonPart {
  return exampleFields(fields, exampleOfType);
}

function exampleOfType(type: FieldType, name: string): Json {
  return kindOf(type).example(type, name, (inner, field = name) => exampleOfType(inner, field));
}
