import { memberName, quote } from './strings.js';

/** A value that can be printed as a literal. */
export type Literal =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Literal[]
  | { readonly [name: string]: Literal };

/** Returns a value as a literal on one line. Undefined members are omitted. */
export function literal(value: Literal): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isList(value)) return `[${value.map(literal).join(', ')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return '{}';
  return `{ ${members.map(([name, member]) => `${propertyKey(name)}: ${literal(member)}`).join(', ')} }`;
}

function isList(value: object): value is readonly Literal[] {
  return Array.isArray(value);
}

/** Returns the key of a property. `__proto__: x` would set the prototype; the computed form creates a property. */
export function propertyKey(name: string): string {
  return name === '__proto__' ? `['__proto__']` : memberName(name);
}
