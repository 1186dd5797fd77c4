import { PackedArray } from './packed-array.js';
import type { Rows } from './shard-database.js';
import type { ValueParser } from './value-parsers.js';

/** A value as it is sent: text, or bytes in PostgreSQL's binary form. */
export type WireValue = string | Buffer | null;

/**
 * The wire form of a statement's values, as both adapters send them.
 *
 * @throws TypeError for values that `Statement.values` does not allow
 */
export function encodeValues(values: readonly unknown[]): WireValue[] {
  const encoded = new Array<WireValue>(values.length);
  for (let index = 0; index < values.length; index += 1) encoded[index] = encodeValue(values[index], index);
  return encoded;
}

function encodeValue(value: unknown, index: number): WireValue {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      if (value === null) return null;
      if (value instanceof PackedArray) return value.bytes;
      if (typeof value === 'object') return textOf(value, index);
      throw new TypeError(`The value of $${index + 1} must not be ${typeof value}. For NULL, pass null.`);
  }
}

function textOf(value: object, index: number): string {
  if (Array.isArray(value)) return `{${value.map((item) => elementOf(item, index)).join(',')}}`;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  // An object with its own `toString` is a value; any other object is JSON data.
  return value.toString === Object.prototype.toString ? JSON.stringify(value) : String(value);
}

function elementOf(item: unknown, index: number): string {
  if (Array.isArray(item)) return textOf(item, index);
  const text = encodeValue(item ?? null, index);
  return text === null ? 'NULL' : `"${String(text).replace(/["\\]/g, '\\$&')}"`;
}

/** Parses one row by position. @throws errors of a parser */
export function parseRow(fields: readonly (string | null)[], parsers: readonly ValueParser[]): unknown[] {
  const row = new Array<unknown>(fields.length);
  for (let index = 0; index < fields.length; index += 1) {
    const text = fields[index] ?? null;
    const parser = parsers[index];
    row[index] = text === null || parser === undefined ? text : parser(text);
  }
  return row;
}

/** Creates a result from its parts. `tag` is the whole command tag, such as `INSERT 0 5`. */
export function rowsOf(tag: string, columns: readonly string[], rows: readonly (readonly unknown[])[]): Rows {
  const space = tag.indexOf(' ');
  if (space < 0) return { columns, rows, command: tag, rowCount: 0 };
  const count = Number(tag.slice(tag.lastIndexOf(' ') + 1));
  return { columns, rows, command: tag.slice(0, space), rowCount: Number.isNaN(count) ? 0 : count };
}
