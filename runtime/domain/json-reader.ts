import { ValidationError } from '../errors.js';
import { Decimal } from './decimal.js';
import type { FieldDescriptor, FieldType } from './descriptor.js';
import { idNamed, ShardedId } from './id.js';
import type { JsonValue } from './json.js';
import { chooserOf } from './union-type.js';
import { parseUuid } from './uuid.js';

/** Converts JSON from a writer of the same type to the value that the writer received. */
export type JsonReader<T> = (json: JsonValue) => T;

/**
 * Compiles fields into the inverse of `compileObjectWriter`: decimals, instants, ids and bigints get their types back.
 * Unknown keys are ignored. An absent optional field stays absent.
 *
 * The reader throws ValidationError, naming the field, for JSON that the writer could not have written.
 */
export function compileObjectReader(
  fields: readonly FieldDescriptor[],
): JsonReader<Readonly<Record<string, unknown>>> {
  return objectReader(fields, NOTHING_OPEN);
}

/** Readers of the enclosing recursive types, by name, which are still being compiled. */
type Open = ReadonlyMap<string, JsonReader<unknown>>;

const NOTHING_OPEN: Open = new Map();

function objectReader(
  fields: readonly FieldDescriptor[],
  open: Open,
): JsonReader<Readonly<Record<string, unknown>>> {
  const readers = fields.map((field) => ({ ...field, read: readerOf(field.type, field.name, open) }));
  return (json) => {
    const source = asObject(json);
    const values: Record<string, unknown> = {};
    for (const { name, optional, nullable, read } of readers) {
      const value = Object.hasOwn(source, name) ? source[name] : undefined;
      if (value === undefined) {
        if (optional !== true) throw new ValidationError(`${name} is missing`, { field: name });
      } else if (value === null && nullable === true) values[name] = null;
      else values[name] = read(value);
    }
    return values;
  };
}

/** Compiles the reader of one type. `name` is used in messages. */
export function compileReader(type: FieldType, name: string): JsonReader<unknown> {
  return readerOf(type, name, NOTHING_OPEN);
}

function readerOf(type: FieldType, name: string, open: Open): JsonReader<unknown> {
  switch (type.kind) {
    case 'json':
      return (json) => json;
    case 'string':
      return (json) => text(json, name);
    case 'currency':
      return (json) => text(json, name);
    case 'enum':
      return (json) => oneOf(type.values, json, name);
    case 'number':
      return (json) => (typeof json === 'number' ? json : refuse(name, 'a number'));
    case 'boolean':
      return (json) => (typeof json === 'boolean' ? json : refuse(name, 'true or false'));
    case 'bigint':
      return (json) => parse(name, 'an integer as a string', () => BigInt(text(json, name)));
    case 'decimal':
      return (json) => parse(name, 'a decimal as a string', () => new Decimal(text(json, name)));
    case 'uuid':
      return (json) => parseUuid(text(json, name));
    case 'instant':
      return (json) => instant(text(json, name), name);
    case 'id':
      return type.sharded
        ? (json) => ShardedId.named(type.model, text(json, name))
        : (json) => idNamed(type.model, text(json, name));
    case 'list': {
      const read = readerOf(type.of, name, open);
      return (json) => list(json, name).map((item) => (item === null ? null : read(item)));
    }
    case 'object': {
      const read = objectReader(type.fields, open);
      return (json) => Object.freeze(read(json));
    }
    case 'tuple':
      return tupleReader(type, name, open);
    case 'record': {
      const read = readerOf(type.of, name, open);
      return (json) => readRecord(asObject(json), read);
    }
    case 'union': {
      const choose = chooserOf(
        type,
        type.of.map((member) => readerOf(member, name, open)),
      );
      return (json) => (choose(json) ?? refuse(name, 'a value of one of its types'))(json);
    }
    case 'recursive':
      return recursiveReader(type, name, open);
    case 'again':
      return open.get(type.name) ?? refuse(name, `within ${type.name}`);
  }
}

function tupleReader(
  { items, rest }: Extract<FieldType, { kind: 'tuple' }>,
  name: string,
  open: Open,
): JsonReader<unknown> {
  const readers = items.map((item) => readerOf(item.type, name, open));
  const readRest = rest === undefined ? undefined : readerOf(rest.type, name, open);
  const required = items.filter(({ optional }) => optional !== true).length;
  return (json) => {
    const values = list(json, name);
    if (values.length < required || (readRest === undefined && values.length > items.length)) {
      return refuse(
        name,
        `a list of ${required === items.length ? required : `${required} to ${items.length}`} values`,
      );
    }
    return values.map((value, index) => {
      const read = readers[index] ?? readRest;
      return value === null || read === undefined ? null : read(value);
    });
  };
}

/** Keys are untrusted: `__proto__` must become an own property. */
function readRecord(
  source: Readonly<Record<string, JsonValue>>,
  read: JsonReader<unknown>,
): Readonly<Record<string, unknown>> {
  return Object.freeze(
    Object.fromEntries(
      Object.entries(source).map(([key, value]) => [key, value === null ? null : read(value)]),
    ),
  );
}

function recursiveReader(
  { name: type, of }: Extract<FieldType, { kind: 'recursive' }>,
  name: string,
  open: Open,
): JsonReader<unknown> {
  const again: JsonReader<unknown> = (json) => read(json);
  const read = readerOf(of, name, new Map([...open, [type, again]]));
  return read;
}

function asObject(json: JsonValue): Readonly<Record<string, JsonValue>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ValidationError('A JSON object was expected');
  }
  return json as Readonly<Record<string, JsonValue>>;
}

function text(json: JsonValue, name: string): string {
  return typeof json === 'string' ? json : refuse(name, 'a string');
}

function list(json: JsonValue, name: string): readonly JsonValue[] {
  return Array.isArray(json) ? json : refuse(name, 'a list');
}

function oneOf(values: readonly unknown[], value: JsonValue, name: string): JsonValue {
  return values.includes(value) ? value : refuse(name, `one of ${values.join(', ')}`);
}

function instant(value: string, name: string): Date {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? refuse(name, 'an ISO 8601 instant') : date;
}

function parse<T>(name: string, expected: string, read: () => T): T {
  try {
    return read();
  } catch {
    return refuse(name, expected);
  }
}

function refuse(name: string, expected: string): never {
  throw new ValidationError(`${name} must be ${expected}`, { field: name });
}
