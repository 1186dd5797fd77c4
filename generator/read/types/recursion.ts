import { directParts } from '../../schema/fields.js';
import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import { literalsIn } from '../../schema/unions.js';
import type { ts } from '../compiler.js';
import { DEEPEST, type Reading } from './reading.js';
import { plain, type ReadType, recursive } from './type-results.js';

/** A type that may contain itself. */
export interface Opening {
  /** The declaration, or the type of the checker. */
  readonly key: unknown;
  readonly name: string;
  readonly node: ts.Node;
  /** Whether it is a class, which data cannot contain within itself. */
  readonly isClass: boolean;
}

/** Reads the inside of a type. Where the type contains itself, the result has `again`. */
export function enclose(
  reading: Reading,
  { key, name: wanted, node, isClass }: Opening,
  readInside: (reading: Reading) => ReadType,
): ReadType {
  const again = reading.open.get(key);
  if (again !== undefined) return plain({ kind: 'again', name: again });
  if (reading.depth >= DEEPEST) return recursive(node);
  const name = freeName(reading, wanted);
  const open = new Map([...reading.open, [key, name]]);
  const result = readInside({ ...reading, open, depth: reading.depth + 1 });
  if (!hasAgain(result.type, name)) return result;
  // A type that is itself, without an object or list between, has no values.
  if (isEndless(result.type, name) || isClass) return recursive(node);
  // A recursive reference must be distinguishable from other members of a union: as an object.
  if (!isObject(result.type) && isMember(result.type, name)) return recursive(node);
  return { ...result, type: { kind: 'recursive', name, of: withLiterals(result.type, name) } };
}

/** Returns a name that no enclosing type has. */
function freeName({ open }: Reading, name: string): string {
  const taken = new Set(open.values());
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}${count}`;
  return free;
}

/** Whether a type refers to the enclosing type of this name. */
function hasAgain(type: TypeSchema, name: string): boolean {
  if (type.kind === 'again') return type.name === name;
  const inner = type.kind === 'object' ? type.fields.map((field) => field.type) : directParts(type);
  return inner.some((each) => hasAgain(each, name));
}

/** Whether a type is itself, or a union with itself. Such a type has no finite value. */
function isEndless(type: TypeSchema, name: string): boolean {
  if (type.kind === 'again') return type.name === name;
  return type.kind === 'union' && type.of.some((each) => isEndless(each, name));
}

/** Whether all values of a type are objects. */
function isObject(type: TypeSchema): boolean {
  if (type.kind === 'recursive') return isObject(type.of);
  return type.kind === 'union' ? type.of.every(isObject) : type.kind === 'object' || type.kind === 'record';
}

/** Whether a type refers to the enclosing type as one member of a union. */
function isMember(type: TypeSchema, name: string): boolean {
  if (type.kind === 'union' && type.of.some((each) => each.kind === 'again' && each.name === name))
    return true;
  const inner = type.kind === 'object' ? type.fields.map((field) => field.type) : directParts(type);
  return inner.some((each) => isMember(each, name));
}

/** Adds the type's literals to its references to itself, if a union must distinguish these from other members. */
function withLiterals(type: TypeSchema, name: string): TypeSchema {
  const literals = literalsIn(type);
  return isMember(type, name) ? replaceAgain(type, name, (again) => ({ ...again, literals })) : type;
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
