import type { FieldDescriptor, FieldType } from '../domain/descriptor.js';
import { EXAMPLES, membersOf } from './documented-schema.js';
import type { Json, JsonPart } from './json-schema.js';

/** An example response with these fields. */
export function exampleOf(fields: readonly FieldDescriptor[]): JsonPart {
  return membersOf(
    fields.map(({ name, nullable, type }) => [name, nullable === true ? null : exampleOfType(type, name)]),
  );
}

function exampleOfType(type: FieldType, name: string): Json {
  switch (type.kind) {
    case 'string':
      return name;
    case 'boolean':
      return true;
    case 'number':
      return 1;
    case 'bigint':
      return '1';
    case 'enum':
      return type.values[0] ?? '';
    case 'decimal':
    case 'instant':
    case 'uuid':
    case 'id':
      return EXAMPLES[type.kind];
    case 'currency':
      return 'EUR';
    case 'list':
      return type.of.kind === 'again' ? [] : [exampleOfType(type.of, name)];
    case 'tuple':
      return type.items.map((item) => exampleOfType(item.type, name));
    case 'record':
      return type.of.kind === 'again' ? {} : { key: exampleOfType(type.of, name) };
    case 'union':
      return type.of[0] === undefined ? {} : exampleOfType(type.of[0], name);
    case 'recursive':
      return exampleOfType(type.of, name);
    case 'again':
      return {};
    case 'object':
      return exampleOf(type.fields);
    case 'json':
      return {};
  }
}
