import type { EnumValue, LiteralFields, TypeSchema } from './type-schema.js';

/** Kinds of values that JSON distinguishes. */
export type JsonKind = 'string' | 'number' | 'boolean' | 'array' | 'object';

/** Returns the kind of JSON value that a type is serialized to; undefined if there are several. */
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
 * Returns the field whose literal discriminates the objects of a union; `''` if there is at most one object; undefined
 * if JSON does not distinguish the members.
 */
export function discriminatorOf(members: readonly TypeSchema[]): string | undefined {
  const kinds = members.map(jsonKindOf);
  if (kinds.includes(undefined)) return undefined;
  const others = kinds.filter((kind) => kind !== 'object');
  if (new Set(others).size < others.length) return undefined;
  const objects = members.filter((_, index) => kinds[index] === 'object');
  if (objects.length < 2) return '';
  const [first = {}, ...rest] = objects.map(literalsIn);
  return Object.keys(first).find((name) => discriminates([first, ...rest], name));
}

/** Returns the literals that identify an object; empty for a type that is not a single object. */
export function literalsIn(type: TypeSchema): LiteralFields {
  switch (type.kind) {
    case 'recursive':
      return literalsIn(type.of);
    case 'again':
      return type.literals ?? {};
    case 'object':
      return Object.fromEntries(
        type.fields.flatMap((field) => {
          const isRequired = !field.optional && !field.nullable;
          return isRequired && field.type.kind === 'enum' ? [[field.name, field.type.values] as const] : [];
        }),
      );
    default:
      return {};
  }
}

function discriminates(objects: readonly LiteralFields[], name: string): boolean {
  const seen = new Set<EnumValue>();
  return objects.every((literals) => {
    const values = Object.hasOwn(literals, name) ? (literals[name] ?? []) : [];
    if (values.length === 0 || values.some((value) => seen.has(value))) return false;
    for (const value of values) seen.add(value);
    return true;
  });
}
