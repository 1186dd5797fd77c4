import { ValidationError } from '../errors.js';
import { type Decimal, plainDecimal } from './decimal.js';
import type { FieldDescriptor, FieldType } from './descriptor.js';
import type { Id } from './id.js';
import { jsonText } from './json-text.js';
import { chooserOf } from './union-type.js';
import { canonicalUuid, type Uuid } from './uuid.js';

/** Converts one value of a known type to JSON text. */
export type JsonWriter<T> = (value: T) => string;

/**
 * Compiles fields into a function that writes an object with exactly these fields as JSON text: decimals as plain
 * strings, instants as ISO 8601 in UTC, ids and bigints as strings. Absent optional fields are left out.
 *
 * The writer throws ValidationError, naming the field, for a value that has no JSON form in its type.
 */
export function compileObjectWriter(fields: readonly FieldDescriptor[]): JsonWriter<object> {
  return objectWriter(fields, NOTHING_OPEN);
}

/** Writers of the enclosing recursive types, by name, which are still being compiled. */
type Open = ReadonlyMap<string, JsonWriter<unknown>>;

const NOTHING_OPEN: Open = new Map();

function objectWriter(fields: readonly FieldDescriptor[], open: Open): JsonWriter<object> {
  const writers = fields.map((field) => ({
    name: field.name,
    key: `${JSON.stringify(field.name)}:`,
    write: writerOf(field.type, field.name, open),
    // An absent field with such a name ("constructor") would otherwise be read from the prototype.
    mayBeInherited: field.name in Object.prototype,
  }));
  return (object) => {
    const values = object as Readonly<Record<string, unknown>>;
    let json = '';
    for (const { name, key, write, mayBeInherited } of writers) {
      const value = mayBeInherited && !Object.hasOwn(values, name) ? undefined : values[name];
      if (value === undefined) continue;
      json += `${json === '' ? '' : ','}${key}${value === null ? 'null' : write(value)}`;
    }
    return `{${json}}`;
  };
}

/** Compiles the writer of one type. `name` is used in messages. */
export function compileWriter(type: FieldType, name: string): JsonWriter<unknown> {
  return writerOf(type, name, NOTHING_OPEN);
}

function writerOf(type: FieldType, name: string, open: Open): JsonWriter<unknown> {
  switch (type.kind) {
    case 'string':
    case 'enum':
      return (value) => JSON.stringify(value);
    case 'json':
      return (value) => jsonText(value, name);
    case 'number':
      return (value) => writeNumber(value, name);
    case 'boolean':
      return (value) => (value === true ? 'true' : 'false');
    case 'bigint':
    case 'currency':
      return (value) => quoted(String(value));
    case 'uuid':
      return (value) => `"${canonicalUuid(value as Uuid, name)}"`;
    case 'instant':
      return (value) => `"${instantText(value as Date, name)}"`;
    case 'decimal':
      return (value) => `"${decimalText(value as Decimal, name)}"`;
    case 'id':
      return (value) => `"${(value as Id<unknown>).getValue()}"`;
    case 'list': {
      const write = writerOf(type.of, name, open);
      return (value) =>
        `[${(value as readonly unknown[]).map((item) => (item === null ? 'null' : write(item))).join(',')}]`;
    }
    case 'object':
      return objectWriter(type.fields, open) as JsonWriter<unknown>;
    case 'tuple':
      return tupleWriter(type, name, open);
    case 'record': {
      const write = writerOf(type.of, name, open);
      return (value) => `{${writtenEntries(value as object, write).join(',')}}`;
    }
    case 'union': {
      const choose = chooserOf(
        type,
        type.of.map((member) => writerOf(member, name, open)),
      );
      return (value) => (choose(value) ?? refuseMember(name))(value);
    }
    case 'recursive':
      return recursiveWriter(type, name, open);
    case 'again':
      return open.get(type.name) ?? refuseMember(type.name);
  }
}

function tupleWriter(
  { items, rest }: Extract<FieldType, { kind: 'tuple' }>,
  name: string,
  open: Open,
): JsonWriter<unknown> {
  const writers = items.map((item) => writerOf(item.type, name, open));
  const writeRest = rest === undefined ? undefined : writerOf(rest.type, name, open);
  return (value) => {
    const texts = (value as readonly unknown[]).map((item, index) => {
      const write = writers[index] ?? writeRest;
      return item === null || item === undefined || write === undefined ? 'null' : write(item);
    });
    return `[${texts.join(',')}]`;
  };
}

function writtenEntries(record: object, write: JsonWriter<unknown>): readonly string[] {
  return Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}:${value === null ? 'null' : write(value)}`);
}

function recursiveWriter(
  { name: type, of }: Extract<FieldType, { kind: 'recursive' }>,
  name: string,
  open: Open,
): JsonWriter<unknown> {
  const again: JsonWriter<unknown> = (value) => write(value);
  const write = writerOf(of, name, new Map([...open, [type, again]]));
  return write;
}

function refuseMember(name: string): never {
  throw new ValidationError(`${name} matches none of its types`, { field: name });
}

/** Text that JSON does not escape. */
const PLAIN = /^[\w-]*$/;

/**
 * Quotes text that is nearly always plain. Checks it anyway: the compiler accepts any string as a currency, and this
 * text is sent in one array with the params and payloads of other plans.
 */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function instantText(value: Date, name: string): string {
  if (Number.isNaN(value.getTime()))
    throw new ValidationError(`${name} is not a valid date`, { field: name });
  return value.toISOString();
}

function decimalText(value: Decimal, name: string): string {
  if (!value.isFinite()) throw new ValidationError(`${name} must be a finite number`, { field: name });
  return plainDecimal(value);
}

function writeNumber(value: unknown, name: string): string {
  if (!Number.isFinite(value)) throw new ValidationError(`${name} must be a finite number`, { field: name });
  return String(value);
}
