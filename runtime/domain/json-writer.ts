import type { FieldDescriptor, FieldType } from './descriptor.js';
import { compilingOf } from './kinds/compiling.js';
import { objectWriter } from './kinds/document-kinds.js';
import type { Compiling, JsonWriter } from './kinds/field-kind.js';
import { kindOf } from './kinds/kinds.js';

export type { JsonWriter } from './kinds/field-kind.js';

/**
 * Compiles fields into a function that writes an object with exactly these fields as JSON text: decimals as plain
 * strings, instants as ISO 8601 in UTC, ids and bigints as strings. Absent optional fields are left out.
 *
 * The writer throws ValidationError, naming the field, for a value that has no JSON form in its type.
 */
export function compileObjectWriter(fields: readonly FieldDescriptor[]): JsonWriter<object> {
  return objectWriter(fields, compilingOf(writerOf, ''));
}

/** Compiles the writer of one type. `name` is used in messages. */
export function compileWriter(type: FieldType, name: string): JsonWriter<unknown> {
  return writerOf(type, compilingOf(writerOf, name));
}

function writerOf(type: FieldType, compiling: Compiling<JsonWriter<unknown>>): JsonWriter<unknown> {
  return kindOf(type).writer(type, compiling);
}
