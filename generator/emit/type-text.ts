import { enumKind, type FieldSchema, type TypeSchema } from '../schema/type-schema.js';
import type { FileScope } from './file-scope.js';
import { literal } from './print/literal.js';
import { memberName, quote } from './print/strings.js';

/** Returns the TypeScript type that a field's setter takes. @param model local name of the model class */
export function fieldTypeText(field: FieldSchema, model: string, scope: FileScope): string {
  const text = valueTypeText(field, model, scope);
  const withNull = field.nullable ? `${text} | null` : text;
  return field.optional ? `${withNull} | undefined` : withNull;
}

function valueTypeText(field: FieldSchema, model: string, scope: FileScope): string {
  const { type } = field;
  if ('brand' in type && type.brand !== undefined) {
    return type.brand.reference === undefined
      ? memberTypeText(field, model)
      : scope.type(type.brand.reference);
  }
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return type.kind;
    case 'instant':
      return 'Date';
    case 'decimal':
      return scope.runtimeType('Decimal');
    case 'uuid':
      return scope.runtimeType('Uuid');
    case 'currency':
      return scope.runtimeType('Currency');
    case 'json':
      return scope.runtimeType('JsonValue');
    case 'id': {
      const target = scope.type({ kind: 'file', file: type.model.file, name: type.model.name });
      return `${scope.runtimeType(type.sharded ? 'ShardedId' : 'Id')}<${target}>`;
    }
    case 'enum':
      return enumTypeText(type, scope);
    default:
      // A type without an exported name is spelled as the type of the model's field.
      return 'reference' in type && type.reference !== undefined
        ? scope.type(type.reference)
        : memberTypeText(field, model);
  }
}

function memberTypeText(field: FieldSchema, model: string): string {
  const member = `${model}[${quote(field.name)}]`;
  return field.optional || field.nullable ? `NonNullable<${member}>` : member;
}

/** Returns the TypeScript type of a column's value in a query result. */
export function rowTypeText(field: FieldSchema, sqlType: string, scope: FileScope): string {
  const text = columnTypeText(field.type, sqlType, scope);
  return field.optional || field.nullable ? `${text} | null` : text;
}

function columnTypeText(type: TypeSchema, sqlType: string, scope: FileScope): string {
  switch (type.kind) {
    case 'boolean':
      return 'boolean';
    case 'number':
      // The driver returns 64-bit integers and numerics as text, so that no digit is lost.
      return /^(bigint|int8|numeric|decimal)/i.test(sqlType) ? 'string' : 'number';
    case 'instant':
      return 'Date';
    case 'enum':
      return enumKind(type.values) === 'mixed' ? scope.runtimeType('JsonValue') : enumTypeText(type, scope);
    case 'json':
    case 'tuple':
    case 'record':
    case 'union':
    case 'recursive':
    case 'again':
    case 'list':
    case 'object':
      return scope.runtimeType('JsonValue');
    default:
      return 'string';
  }
}

function enumTypeText(type: Extract<TypeSchema, { kind: 'enum' }>, scope: FileScope): string {
  return type.reference === undefined ? type.values.map(literal).join(' | ') : scope.type(type.reference);
}

/** Returns a property access: `a.b`, or `a['b']` if the name is not an identifier. */
export function access(object: string, property: string): string {
  const name = memberName(property);
  return name === property ? `${object}.${name}` : `${object}[${name}]`;
}
