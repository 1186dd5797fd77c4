import { innerTypes } from '../../schema/fields.js';
import type { TypeSchema } from '../../schema/type-schema.js';
import { literalsIn } from '../../schema/unions.js';
import type { ts } from '../compiler.js';
import { DEEPEST, NOTHING_COMPOSED, type OpenType, type Reading } from './reading.js';
import { plain, type ReadType, recursive } from './type-results.js';

/** A type that may contain itself. */
export interface Opening {
  /** The declaration, or the type of the checker. */
  readonly key: unknown;
  readonly name: string;
  readonly node: ts.Node;
  /** Whether it is a class, which data cannot contain within itself. */
  readonly isClass: boolean;
  /** Whether it has no declaration of its own, as `Partial<A>` and `A & B`. Default: false. */
  readonly isComposed?: boolean;
}

/**
 * Reads the inside of a type. Where the type contains itself, the result has `again`: if possible, that refers to a
 * declaration.
 */
export function enclose(
  reading: Reading,
  { key, name: wanted, node, isClass, isComposed = false }: Opening,
  readInside: (reading: Reading) => ReadType,
): ReadType {
  const known = (isComposed ? reading.composed : reading.open).get(key);
  if (known !== undefined) return known;
  if (reading.open.size >= DEEPEST) return recursive(node);
  const again: OpenType = { kind: 'again', name: freeName(reading, wanted) };
  const readWith = (self: ReadType): ReadType => {
    // A composed type may be open twice, with a declaration between.
    const open = new Map([...reading.open, [isComposed ? again : key, self]]);
    const composed = isComposed ? new Map([...reading.composed, [key, self]]) : NOTHING_COMPOSED;
    return readInside({ ...reading, open, composed });
  };
  const first = readWith(plain(again));
  const { nullable, optional } = first;
  // Whether the type allows null is known only now: the places where it contains itself allow the same.
  const isRead = !(nullable || optional) || !hasAgain(first.type, again.name);
  const result = isRead ? first : readWith({ type: again, nullable, optional });
  const { type } = result;
  const { name } = again;
  if (!hasAgain(type, name)) return result;
  // A type that is itself, without an object or list between, has no values.
  if (isEndless(type, name) || isClass) return recursive(node);
  if (isMember(type, name)) {
    // A recursive reference must be distinguishable from other members of a union: as an object, by its literals.
    if (!isObject(type)) return recursive(node);
    again.literals = literalsIn(type);
  }
  return { ...result, type: { kind: 'recursive', name, of: type } };
}

/** Returns a name that no enclosing type has. */
function freeName({ open }: Reading, name: string): string {
  const taken = new Set([...open.values()].map(({ type }) => ('name' in type ? type.name : undefined)));
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}${count}`;
  return free;
}

/** Whether a type refers to the enclosing type of this name. */
export function hasAgain(type: TypeSchema, name: string): boolean {
  if (type.kind === 'again') return type.name === name;
  return innerTypes(type).some((each) => hasAgain(each, name));
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
  return innerTypes(type).some((each) => isMember(each, name));
}
