import type { SourceLocation } from '../../schema/location.js';
import type { Marks } from './marks.js';
import { memberName, quote } from './strings.js';

/** Source text that is printed unchanged inside a literal: a name, a call, an arrow function. */
export class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A call. If it does not fit on one line, it breaks inside its last argument. */
export class Call {
  readonly callee: string;
  readonly args: readonly Code[];

  constructor(callee: string, args: readonly Code[]) {
    this.callee = callee;
    this.args = args;
  }
}

/** A value with the declaration that causes it. Prints like the value. */
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

/** An object whose keys come from the sources, in source order. Keys can be any text, including `__proto__`. */
export class Members {
  readonly entries: ReadonlyMap<string, Code>;
  /** Cached texts, for an object that is printed in many places. */
  readonly texts: MembersTexts | undefined;

  constructor(
    entries: Iterable<readonly [key: string, value: Code]>,
    { isShared = false }: { readonly isShared?: boolean } = {},
  ) {
    this.entries = new Map(entries);
    this.texts = isShared ? { flat: undefined, blocks: new Map() } : undefined;
  }

  toJSON(): unknown {
    return Object.fromEntries(this.entries);
  }
}

interface MembersTexts {
  /** On one line. */
  flat: string | undefined;
  /** On several lines, by the spaces before the first line. */
  readonly blocks: Map<number, string>;
}

/** A value that can be printed as a literal. Undefined properties are omitted. */
export type Code = PlainCode | Traced;

type PlainCode =
  | string
  | number
  | boolean
  | null
  | Expression
  | Call
  | Members
  | readonly Code[]
  | PlainObject;

interface PlainObject {
  readonly [key: string]: Code | undefined;
}

/** Maximum columns of a line of emitted code. */
export const LINE_WIDTH = 110;

/** Attaches the declaration that causes a value. */
export function at(location: SourceLocation, code: Code): Code {
  return code instanceof Traced ? code : new Traced(code, location);
}

/**
 * Prints a literal: on the current line if it fits, else one element per line with trailing commas.
 *
 * @param indent spaces before the line on which the literal begins
 * @param lead characters on that line before the literal (`const a = `) and behind it (`;`)
 * @param marks enclose what declarations cause
 */
export function printCode(value: Code, indent: number, lead = 0, marks?: Marks): string {
  const out: string[] = [];
  write(out, value, indent, lead, marks);
  return out.join('');
}

/** Prints a call: on the current line if it fits, else one argument per line. */
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

function write(out: string[], value: Code, indent: number, lead: number, marks: Marks | undefined): void {
  if (value instanceof Traced) {
    if (marks !== undefined) out.push(marks.open(value.location));
    write(out, value.code, indent, lead, marks);
    if (marks !== undefined) out.push(marks.close);
    return;
  }
  const start = out.length;
  const room = writeFlat(out, value, LINE_WIDTH - indent - lead, marks);
  if (room >= 0 || isLeaf(value)) return;
  out.length = start;
  if (value instanceof Members && value.texts !== undefined && marks === undefined) {
    out.push(blockOf(value, value.texts, indent));
    return;
  }
  writeBlock(out, value, indent, lead, marks);
}

function blockOf(value: Members, { blocks }: MembersTexts, indent: number): string {
  let block = blocks.get(indent);
  if (block === undefined) {
    const out: string[] = [];
    writeBlock(out, value, indent, 0, undefined);
    block = out.join('');
    blocks.set(indent, block);
  }
  return block;
}

/** Writes a value that does not fit on the current line. */
function writeBlock(
  out: string[],
  value: Exclude<PlainCode, Leaf>,
  indent: number,
  lead: number,
  marks: Marks | undefined,
): void {
  if (value instanceof Call) {
    writeCall(out, value, indent, lead, marks);
    return;
  }
  const inner = indent + 2;
  if (isList(value)) {
    out.push('[\n');
    for (const item of value) {
      out.push(marginOf(inner));
      write(out, item, inner, 1, marks);
      out.push(',\n');
    }
    out.push(marginOf(indent), ']');
    return;
  }
  out.push('{\n');
  for (const name of keysOf(value)) {
    const item = memberOf(value, name);
    if (item === undefined) continue;
    const key = propertyKey(name);
    out.push(marginOf(inner), key, ': ');
    write(out, item, inner, key.length + 3, marks);
    out.push(',\n');
  }
  out.push(marginOf(indent), '}');
}

function writeCall(
  out: string[],
  { callee, args }: Call,
  indent: number,
  lead: number,
  marks: Marks | undefined,
): void {
  const start = out.length;
  let room = LINE_WIDTH - indent - lead - callee.length - 2;
  out.push(callee, '(');
  for (const argument of args.slice(0, -1)) {
    room = writeFlat(out, argument, room, marks) - 2;
    if (room <= 0) {
      out.length = start;
      writeArgumentLines(out, { callee, args }, indent, marks);
      return;
    }
    out.push(', ');
  }
  const last = args.at(-1);
  if (last !== undefined) write(out, last, indent, LINE_WIDTH - indent - room, marks);
  out.push(')');
}

function writeArgumentLines(
  out: string[],
  { callee, args }: Pick<Call, 'callee' | 'args'>,
  indent: number,
  marks: Marks | undefined,
): void {
  out.push(callee, '(\n');
  for (const argument of args) {
    out.push(marginOf(indent + 2));
    write(out, argument, indent + 2, 1, marks);
    out.push(',\n');
  }
  out.push(marginOf(indent), ')');
}

/** Writes the value on one line. @returns the remaining room. Below 0 the value did not fit and is incomplete */
function writeFlat(out: string[], value: Code, room: number, marks: Marks | undefined): number {
  if (value instanceof Traced) {
    if (marks !== undefined) out.push(marks.open(value.location));
    const left = writeFlat(out, value.code, room, marks);
    if (marks !== undefined) out.push(marks.close);
    return left;
  }
  if (isLeaf(value)) {
    const text = printLeaf(value);
    out.push(text);
    return room - text.length;
  }
  if (value instanceof Call) {
    out.push(value.callee);
    return writeFlatItems(out, value.args, room - value.callee.length, ['(', ')'], marks);
  }
  return isList(value)
    ? writeFlatItems(out, value, room, ['[', ']'], marks)
    : writeFlatObject(out, value, room, marks);
}

function writeFlatItems(
  out: string[],
  list: readonly Code[],
  room: number,
  [opening, closing]: readonly [string, string],
  marks: Marks | undefined,
): number {
  let left = room - 2;
  let separator = '';
  out.push(opening);
  for (const item of list) {
    out.push(separator);
    left = writeFlat(out, item, left - separator.length, marks);
    if (left < 0) return left;
    separator = ', ';
  }
  out.push(closing);
  return left;
}

function writeFlatObject(
  out: string[],
  object: PlainObject | Members,
  room: number,
  marks: Marks | undefined,
): number {
  if (object instanceof Members && object.texts !== undefined && marks === undefined) {
    const flat = flatOf(object, object.texts);
    out.push(flat);
    return room - flat.length;
  }
  return writeFlatMembers(out, object, room, marks);
}

function flatOf(object: Members, texts: MembersTexts): string {
  if (texts.flat === undefined) {
    const out: string[] = [];
    writeFlatMembers(out, object, Number.POSITIVE_INFINITY, undefined);
    texts.flat = out.join('');
  }
  return texts.flat;
}

function writeFlatMembers(
  out: string[],
  object: PlainObject | Members,
  room: number,
  marks: Marks | undefined,
): number {
  let left = room - 2;
  let separator = '{ ';
  for (const name of keysOf(object)) {
    const item = memberOf(object, name);
    if (item === undefined) continue;
    const key = propertyKey(name);
    out.push(separator, key, ': ');
    left = writeFlat(out, item, left - key.length - 4, marks);
    if (left < 0) return left;
    separator = ', ';
  }
  out.push(separator === ', ' ? ' }' : '{}');
  return left;
}

function keysOf(object: PlainObject | Members): Iterable<string> {
  return object instanceof Members ? object.entries.keys() : Object.keys(object);
}

function memberOf(object: PlainObject | Members, name: string): Code | undefined {
  return object instanceof Members ? object.entries.get(name) : object[name];
}

const margins: string[] = [];

function marginOf(indent: number): string {
  margins[indent] ??= ' '.repeat(indent);
  return margins[indent];
}

type Leaf = string | number | boolean | null | Expression;

function printLeaf(value: Leaf): string {
  if (value instanceof Expression) return value.text;
  return typeof value === 'string' ? quote(value) : String(value);
}

function isLeaf(value: PlainCode): value is Leaf {
  return value === null || typeof value !== 'object' || value instanceof Expression;
}

function isList(value: Exclude<PlainCode, Leaf | Call>): value is readonly Code[] {
  return Array.isArray(value);
}

/** Printed keys: few, and used often. */
const keys = new Map<string, string>();

/** `__proto__: x` in a literal would set the prototype. The computed form creates a property. */
function propertyKey(name: string): string {
  let key = keys.get(name);
  if (key === undefined) {
    key = name === '__proto__' ? `['__proto__']` : memberName(name);
    keys.set(name, key);
  }
  return key;
}
