import { directParts } from '../../schema/fields.js';
import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import { literalsIn } from '../../schema/unions.js';

/** Whether a type refers to the enclosing type of this name. */
export function hasAgain(type: TypeSchema, name: string): boolean {
  if (type.kind === 'again') return type.name === name;
  const inner = type.kind === 'object' ? type.fields.map((field) => field.type) : directParts(type);
  return inner.some((each) => hasAgain(each, name));
}

/** Whether a type, or a part of it, refers to a type that encloses it. */
export function hasAnyAgain(type: TypeSchema): boolean {
  if (type.kind === 'again') return true;
  const inner = type.kind === 'object' ? type.fields.map((field) => field.type) : directParts(type);
  return inner.some(hasAnyAgain);
}

/** Whether a type is itself, or a union with itself. Such a type has no finite value. */
export function isEndless(type: TypeSchema, name: string): boolean {
  if (type.kind === 'again') return type.name === name;
  return type.kind === 'union' && type.of.some((each) => isEndless(each, name));
}

/** Whether all values of a type are objects. */
export function isObject(type: TypeSchema): boolean {
  if (type.kind === 'recursive') return isObject(type.of);
  return type.kind === 'union' ? type.of.every(isObject) : type.kind === 'object' || type.kind === 'record';
}

/** Whether a type refers to the enclosing type as one member of a union. */
export function isMember(type: TypeSchema, name: string): boolean {
  if (type.kind === 'union' && type.of.some((each) => each.kind === 'again' && each.name === name))
    return true;
  const inner = type.kind === 'object' ? type.fields.map((field) => field.type) : directParts(type);
  return inner.some((each) => isMember(each, name));
}

/** Adds the type's literals to its references to itself, if a union must distinguish these from other members. */
export function withLiterals(type: TypeSchema, name: string): TypeSchema {
  const literals = literalsIn(type);
  return isMember(type, name) ? replaceAgain(type, name, (again) => ({ ...again, literals })) : type;
}

/** Replaces a recursive type by its first level. */
export function unrolled(type: TypeSchema): TypeSchema {
  return type.kind === 'recursive' ? replaceAgain(type.of, type.name, () => type) : type;
}

type Again = Extract<TypeSchema, { kind: 'again' }>;

function replaceAgain(type: TypeSchema, name: string, by: (again: Again) => TypeSchema): TypeSchema {
  const replace = (inner: TypeSchema): TypeSchema => replaceAgain(inner, name, by);
  switch (type.kind) {
    case 'again':
      return type.name === name ? by(type) : type;
    case 'list':
    case 'record':
      return { ...type, of: replace(type.of) };
    case 'recursive':
      return type.name === name ? type : { ...type, of: replace(type.of) };
    case 'union':
      return { ...type, of: type.of.map(replace) };
    case 'tuple':
      return {
        ...type,
        items: type.items.map((item) => ({ ...item, type: replace(item.type) })),
        ...(type.rest === undefined ? {} : { rest: { ...type.rest, type: replace(type.rest.type) } }),
      };
    case 'object':
      return {
        ...type,
        fields: type.fields.map((field): FieldSchema => ({ ...field, type: replace(field.type) })),
      };
    default:
      return type;
  }
}
