import { compareText } from '../diagnostics.js';
import type { Shape } from '../schema/locked-type.js';
import { storedNameOf } from '../schema/project-schema.js';
import {
  type EnumValue,
  enumKind,
  type FieldSchema,
  type ItemSchema,
  type TypeSchema,
} from '../schema/type-schema.js';
import type { Lockable } from './lock-kind.js';

/** The JSON Schema of a stored payload or of stored params, and the event's model. Names are sorted, because their order has no meaning. */
export function storedShape({ fields, model }: Pick<Lockable, 'fields' | 'model'>): Shape {
  return { ...(fields && objectShape(fields)), ...(model === undefined ? {} : { model }) };
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
  if (!nullable || type.kind === 'json') return shape;
  if (name === undefined) return { anyOf: [shape, NULL] };
  return { ...shape, type: [name, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

const NULL: Shape = { type: 'null' };

function itemShape({ type, nullable }: Pick<ItemSchema, 'type' | 'nullable'>): Shape {
  const shape = typeShape(type);
  return nullable === true ? { anyOf: [shape, NULL] } : shape;
}

function enumShape(values: readonly EnumValue[]): Shape {
  const kind = enumKind(values);
  const sorted = [...values].sort((a, b) => compareText(String(a), String(b)));
  return kind === 'mixed' ? { enum: sorted } : { type: kind, enum: sorted };
}

/** The JSON form of a type's values. Tags such as `@maxLength` bind only writers: readers accept any stored value. */
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
      return { type: 'string', format: 'uuid', model: storedNameOf(type.model) };
    case 'enum':
      return enumShape(type.values);
    case 'list':
      return { type: 'array', items: itemShape({ ...type, type: type.of }) };
    case 'tuple':
      return {
        type: 'array',
        prefixItems: type.items.map(itemShape),
        minItems: type.items.filter(({ optional }) => optional !== true).length,
        ...(type.rest === undefined ? {} : { items: itemShape(type.rest) }),
      };
    case 'record':
      return { type: 'object', additionalProperties: itemShape({ ...type, type: type.of }) };
    case 'union':
      return { oneOf: type.of.map(typeShape) };
    case 'recursive':
      return { ...typeShape(type.of), $anchor: type.name };
    case 'again':
      return { $ref: `#${type.name}` };
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
