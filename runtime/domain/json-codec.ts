import type { FieldDescriptor, FieldType } from './descriptor.js';
import { isPlainObject } from './json.js';
import { jsonText } from './json-text.js';
import { objectReader, objectWriter } from './kinds/document-kinds.js';
import type { Compiling, JsonReader, JsonWriter } from './kinds/field-kind.js';
import { kindOf, partsOf } from './kinds/kinds.js';
import { chooserOf } from './union-type.js';

export type { JsonReader, JsonWriter } from './kinds/field-kind.js';

/**
 * Compiles fields into a function that writes an object with exactly these fields as JSON text: decimals as plain
 * strings, instants as ISO 8601 in UTC, ids and bigints as strings. Absent optional fields are left out.
 *
 * The writer throws ValidationError, naming the field, for a value that has no JSON form in its type; for one of another
 * type only if it has an `owner`, which the message names too.
 */
export function compileObjectWriter(fields: readonly FieldDescriptor[], owner?: string): JsonWriter<object> {
  return objectWriter(fields, compilingOf(writerOf, ''), owner);
}

/** The same, in the order of names and keys: equal values have one text, whatever order fields are declared in. */
export function compileOrderedWriter(fields: readonly FieldDescriptor[], owner?: string): JsonWriter<object> {
  return objectWriter(byName(fields), compilingOf(orderedWriterOf, ''), owner);
}

function orderedWriterOf(type: FieldType, compiling: Compiling<JsonWriter<unknown>>): JsonWriter<unknown> {
  const write = writerOf(type.kind === 'object' ? { ...type, fields: byName(type.fields) } : type, compiling);
  if (type.kind !== 'json' && type.kind !== 'record') return write;
  return (value) => JSON.stringify(JSON.parse(write(value)), (_, part: unknown) => byKey(part));
}

function byKey(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, value[key]]),
  );
}

function byName(fields: readonly FieldDescriptor[]): readonly FieldDescriptor[] {
  return fields.toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

/** Compiles the writer of one type. `name` is used in messages. */
export function compileWriter(type: FieldType, name: string): JsonWriter<unknown> {
  return writerOf(type, compilingOf(writerOf, name));
}

function writerOf(type: FieldType, compiling: Compiling<JsonWriter<unknown>>): JsonWriter<unknown> {
  return kindOf(type).writer(type, compiling);
}

/**
 * Compiles fields into the inverse of `compileObjectWriter`: decimals, instants, ids and bigints get their types back.
 * Unknown keys are ignored. An absent optional field stays absent.
 *
 * The reader throws ValidationError, naming the field, for JSON that the writer could not have written.
 */
export function compileObjectReader(
  fields: readonly FieldDescriptor[],
): JsonReader<Readonly<Record<string, unknown>>> {
  return objectReader(fields, compilingOf(readerOf, ''));
}

/** Compiles the reader of one type. `name` is used in messages. */
export function compileReader(type: FieldType, name: string): JsonReader<unknown> {
  return readerOf(type, compilingOf(readerOf, name));
}

function readerOf(type: FieldType, compiling: Compiling<JsonReader<unknown>>): JsonReader<unknown> {
  return kindOf(type).reader(type, compiling);
}

/** Writes the documents of one column as JSON text, and reads them from JSON. */
export interface DocumentCodec {
  readonly write: JsonWriter<unknown>;
  readonly read: JsonReader<unknown>;
}

/** The codec of the documents of a field. Those with decimals, instants or ids, which JSON has as text, keep their types. */
export function documentCodec(type: FieldType, field: string): DocumentCodec {
  if (!isJson(type)) return { write: compileWriter(type, field), read: compileReader(type, field) };
  return { write: (value) => jsonText(value, field), read: (json) => json };
}

/** Whether the JSON form of every value of the type is the value itself. */
function isJson(type: FieldType): boolean {
  if (type.kind === 'tuple' && type.items.some(({ optional }) => optional === true)) return false;
  return kindOf(type).isText !== true && partsOf(type).every(isJson);
}

/**
 * The context of a type. @param open compiled forms of references to the recursive types around it. Default none
 */
function compilingOf<Compiled>(
  compile: (type: FieldType, compiling: Compiling<Compiled>) => Compiled,
  name: string,
  open: ReadonlyMap<string, Compiled> = new Map(),
): Compiling<Compiled> {
  const part = (type: FieldType, inner = name): Compiled => compile(type, compilingOf(compile, inner, open));
  return {
    name,
    part,
    chooser: (type) => chooserOf(type, (member) => part(member)),
    recursive: (type, again) =>
      compile(type.of, compilingOf(compile, name, new Map([...open, [type.name, again]]))),
    again: (type) => open.get(type),
  };
}
