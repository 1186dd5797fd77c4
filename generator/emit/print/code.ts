import { memberName, quote } from './strings.js';

/** Source text that stands as it is inside a literal: a name, a call, an arrow function. */
export class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value to be printed as a literal. Properties that are undefined are left out. */
export type Code =
  | string
  | number
  | boolean
  | null
  | Expression
  | readonly Code[]
  | { readonly [key: string]: Code | undefined };

/** Columns per line of emitted code. */
export const LINE_WIDTH = 110;

/**
 * Prints a literal: on the present line where it fits, else one element per line with trailing commas.
 *
 * @param indent spaces before the line that the literal begins on
 * @param lead characters on that line before the literal (`const a = `), and behind it (`;`)
 */
export function printCode(value: Code, indent: number, lead = 0): string {
  const flat = printFlat(value);
  if (indent + lead + flat.length <= LINE_WIDTH || isLeaf(value)) return flat;
  const inner = indent + 2;
  const margin = ' '.repeat(inner);
  const [open, close] = isList(value) ? ['[', ']'] : ['{', '}'];
  const lines = isList(value)
    ? value.map((item) => `${margin}${printCode(item, inner, 1)},`)
    : entriesOf(value).map(([key, item]) => `${margin}${key}: ${printCode(item, inner, key.length + 3)},`);
  return `${open}\n${lines.join('\n')}\n${' '.repeat(indent)}${close}`;
}

/** Prints a call or construction: on the present line where it fits, else one argument per line. */
export function printCall(
  callee: string,
  args: readonly string[],
  place: { readonly indent: number; readonly lead: number },
): string {
  const flat = `${callee}(${args.join(', ')})`;
  if (place.indent + place.lead + flat.length <= LINE_WIDTH) return flat;
  const margin = ' '.repeat(place.indent);
  return `${callee}(\n${args.map((argument) => `${margin}  ${argument},\n`).join('')}${margin})`;
}

function printFlat(value: Code): string {
  if (value instanceof Expression) return value.text;
  if (typeof value === 'string') return quote(value);
  if (isLeaf(value)) return String(value);
  if (isList(value)) return `[${value.map(printFlat).join(', ')}]`;
  const entries = entriesOf(value).map(([key, item]) => `${key}: ${printFlat(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

type Leaf = string | number | boolean | null | Expression;

function isLeaf(value: Code): value is Leaf {
  return value === null || typeof value !== 'object' || value instanceof Expression;
}

function isList(value: Exclude<Code, Leaf>): value is readonly Code[] {
  return Array.isArray(value);
}

function entriesOf(value: {
  readonly [key: string]: Code | undefined;
}): readonly (readonly [string, Code])[] {
  return Object.entries(value)
    .filter((entry): entry is [string, Code] => entry[1] !== undefined)
    .map(([key, item]) => [propertyKey(key), item] as const);
}

/** `__proto__: x` in a literal would set the prototype; the computed form makes a property. */
function propertyKey(name: string): string {
  return name === '__proto__' ? `['__proto__']` : memberName(name);
}
