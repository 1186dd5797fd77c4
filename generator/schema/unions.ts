import type { EnumValue, FieldSchema, TypeSchema } from './type-schema.js';

/** The kinds of value that JSON distinguishes. */
export type JsonKind = 'string' | 'number' | 'boolean' | 'array' | 'object';

type ObjectType = Extract<TypeSchema, { kind: 'object' }>;

/** The kind of JSON value that a type is written as; undefined if there are several. */
export function jsonKindOf(type: TypeSchema): JsonKind | undefined {
  switch (type.kind) {
    case 'number':
    case 'boolean':
    case 'object':
      return type.kind;
    case 'list':
    case 'tuple':
      return 'array';
    case 'record':
      return 'object';
    case 'recursive':
      return jsonKindOf(type.of);
    case 'enum': {
      const [first, ...others] = new Set(type.values.map((value) => typeof value as JsonKind));
      return others.length === 0 ? first : undefined;
    }
    case 'again':
      return 'object';
    case 'json':
    case 'model':
    case 'void':
    case 'union':
    case 'unsupported':
      return undefined;
    default:
      return 'string';
  }
}

/**
 * The field whose literal discriminates the objects of a union, `''` if there is at most one object; undefined if the
 * members cannot be distinguished.
 */
export function discriminatorOf(members: readonly TypeSchema[]): string | undefined {
  const kinds = members.map(jsonKindOf);
  if (kinds.includes(undefined)) return undefined;
  const others = kinds.filter((kind) => kind !== 'object');
  if (new Set(others).size < others.length) return undefined;
  const objects = members.filter((_, index) => kinds[index] === 'object');
  if (objects.length < 2) return '';
  const shapes = objects.map(objectOf);
  const known = shapes.filter((shape) => shape !== undefined);
  if (known.length < shapes.length) return undefined;
  return known[0]?.fields.map(({ name }) => name).find((name) => tellsApart(known, name));
}

/** The object type that a member is, or that its name leads to. */
export function objectOf(type: TypeSchema): ObjectType | undefined {
  if (type.kind === 'recursive') return objectOf(type.of);
  return type.kind === 'object' ? type : undefined;
}

function tellsApart(objects: readonly ObjectType[], name: string): boolean {
  const seen = new Set<EnumValue>();
  return objects.every(({ fields }) => {
    const values = tagsOf(fields.find((field) => field.name === name));
    if (values === undefined || values.some((value) => seen.has(value))) return false;
    for (const value of values) seen.add(value);
    return true;
  });
}

function tagsOf(field: FieldSchema | undefined): readonly EnumValue[] | undefined {
  if (field === undefined || field.optional || field.nullable) return undefined;
  return field.type.kind === 'enum' && field.type.values.length > 0 ? field.type.values : undefined;
}
