import type { SourceLocation } from '../../schema/location.js';
import type { Marks } from './marks.js';
import { memberName, quote } from './strings.js';

/** Source text that stands as it is inside a literal: a name, a call, an arrow function. */
export class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value together with the declaration that causes it. Prints as the value alone. */
export class Traced {
  readonly code: PlainCode;
  readonly location: SourceLocation;

  constructor(code: PlainCode, location: SourceLocation) {
    this.code = code;
    this.location = location;
  }

  toJSON(): unknown {
    return this.code;
  }
}

/** A value to be printed as a literal. Properties that are undefined are left out. */
export type Code = PlainCode | Traced;

type PlainCode =
  | string
  | number
  | boolean
  | null
  | Expression
  | readonly Code[]
  | { readonly [key: string]: Code | undefined };

/** Columns per line of emitted code. */
export const LINE_WIDTH = 110;

/** Says which declaration causes a value. */
export function at(location: SourceLocation, code: Code): Code {
  return code instanceof Traced ? code : new Traced(code, location);
}

/**
 * Prints a literal: on the present line where it fits, else one element per line with trailing commas.
 *
 * @param indent spaces before the line that the literal begins on
 * @param lead characters on that line before the literal (`const a = `), and behind it (`;`)
 * @param marks set around what declarations cause
 */
export function printCode(value: Code, indent: number, lead = 0, marks?: Marks): string {
  return print(value, { indent, lead, marks, width: flatWidth(value) });
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

interface Place {
  readonly indent: number;
  readonly lead: number;
  readonly marks: Marks | undefined;
  /** Of the value on one line, or anything beyond a line's. */
  readonly width: number;
}

function print(value: Code, place: Place): string {
  if (value instanceof Traced) {
    const text = print(value.code, place);
    return place.marks === undefined ? text : place.marks.around(value.location, text);
  }
  const { indent, lead, marks, width } = place;
  if (indent + lead + width <= LINE_WIDTH || isLeaf(value)) return printFlat(value, marks);
  const inner = indent + 2;
  const margin = ' '.repeat(inner);
  const nested = (item: Code, itemLead: number): string =>
    print(item, { indent: inner, lead: itemLead, marks, width: flatWidth(item) });
  const [open, close] = isList(value) ? ['[', ']'] : ['{', '}'];
  const lines = isList(value)
    ? value.map((item) => `${margin}${nested(item, 1)},`)
    : entriesOf(value).map(([key, item]) => `${margin}${key}: ${nested(item, key.length + 3)},`);
  return `${open}\n${lines.join('\n')}\n${' '.repeat(indent)}${close}`;
}

function printFlat(value: Code, marks: Marks | undefined): string {
  if (value instanceof Traced) {
    const text = printFlat(value.code, marks);
    return marks === undefined ? text : marks.around(value.location, text);
  }
  if (isLeaf(value)) return printLeaf(value);
  if (isList(value)) return `[${value.map((item) => printFlat(item, marks)).join(', ')}]`;
  const entries = entriesOf(value).map(([key, item]) => `${key}: ${printFlat(item, marks)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/** Characters that the value takes on one line. Stops counting beyond a line, so that large literals cost little. */
function flatWidth(value: Code, limit: number = LINE_WIDTH): number {
  if (value instanceof Traced) return flatWidth(value.code, limit);
  if (isLeaf(value)) return printLeaf(value).length;
  if (isList(value)) return listWidth(value, limit);
  // The outer braces, then for each property `key: value` with the separator before it or the space inside the braces.
  let width = 2;
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === undefined) continue;
    if (width > limit) break;
    width += propertyKey(key).length + 4 + flatWidth(item, limit - width);
  }
  return width;
}

function listWidth(list: readonly Code[], limit: number): number {
  let width = list.length === 0 ? 2 : 0;
  for (const item of list) {
    if (width > limit) break;
    width += 2 + flatWidth(item, limit - width);
  }
  return width;
}

type Leaf = string | number | boolean | null | Expression;

function printLeaf(value: Leaf): string {
  if (value instanceof Expression) return value.text;
  return typeof value === 'string' ? quote(value) : String(value);
}

function isLeaf(value: PlainCode): value is Leaf {
  return value === null || typeof value !== 'object' || value instanceof Expression;
}

function isList(value: Exclude<PlainCode, Leaf>): value is readonly Code[] {
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
