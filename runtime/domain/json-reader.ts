import type { FieldDescriptor, FieldType } from './descriptor.js';
import { compilingOf } from './kinds/compiling.js';
import { objectReader } from './kinds/document-kinds.js';
import type { Compiling, JsonReader } from './kinds/field-kind.js';
import { kindOf } from './kinds/kinds.js';

export type { JsonReader } from './kinds/field-kind.js';

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
