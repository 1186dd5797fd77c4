import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import type { Code } from '../print/code.js';
import { EXAMPLES } from './documented-schema.js';

/** An answer with these fields, as it may look. */
export function exampleOf(fields: readonly FieldSchema[]): Code {
  return Object.fromEntries(
    fields.map(({ name, nullable, type }) => [name, nullable ? null : exampleOfType(type, name)]),
  );
}

function exampleOfType(type: TypeSchema, name: string): Code {
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
      return EXAMPLES.decimal;
    case 'instant':
      return EXAMPLES.instant;
    case 'uuid':
      return EXAMPLES.uuid;
    case 'id':
      return EXAMPLES.id;
    case 'currency':
      return 'EUR';
    case 'list':
      return [exampleOfType(type.of, name)];
    case 'object':
      return exampleOf(type.fields);
    default:
      return {};
  }
}
