import { compareText } from '../diagnostics.js';
import type { Shape } from '../schema/locked-type.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';

/** The JSON Schema of a payload, or of params, as the database holds them. Names are sorted: their order means nothing. */
export function storedShape({ fields }: { readonly fields: readonly FieldSchema[] }): Shape {
  return objectShape(fields);
}

function objectShape(fields: readonly FieldSchema[]): Shape {
  const sorted = [...fields].sort((a, b) => compareText(a.name, b.name));
  const required = sorted.filter(({ optional }) => !optional).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(sorted.map((field) => [field.name, fieldShape(field)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function fieldShape({ type, nullable }: FieldSchema): Shape {
  const shape = typeShape(type);
  const { type: name, enum: values } = shape;
  if (!nullable || name === undefined) return shape;
  return { ...shape, type: [name, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

/** What a value is written as. Tags such as `@maxLength` bind those who write: readers take whatever is stored. */
function typeShape(type: TypeSchema): Shape {
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return { type: type.kind };
    case 'bigint':
    case 'decimal':
    case 'uuid':
    case 'currency':
      return { type: 'string', format: type.kind };
    case 'instant':
      return { type: 'string', format: 'date-time' };
    case 'id':
      return { type: 'string', format: 'uuid', model: type.model.name };
    case 'enum':
      return { type: 'string', enum: [...type.values].sort(compareText) };
    case 'list':
      return { type: 'array', items: typeShape(type.of) };
    case 'object':
      return objectShape(type.fields);
    case 'json':
      return {};
    case 'model':
    case 'void':
    case 'unsupported':
      throw new Error(`No field can be of kind ${type.kind}: the checks let it pass`);
  }
}
