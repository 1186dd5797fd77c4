import type { ColumnDescriptor, FieldDescriptor, FieldType } from '../descriptor.js';
import { normalizeType } from '../sql-type.js';
import { decimalKind } from './decimal-kind.js';
import {
  againKind,
  listKind,
  objectKind,
  recordKind,
  recursiveKind,
  tupleKind,
  unionKind,
} from './document-kinds.js';
import type { ColumnKind, FieldKind, JsonKind, KindName, TypeOf } from './field-kind.js';
import { instantKind } from './instant-kind.js';
import {
  bigintKind,
  booleanKind,
  currencyKind,
  enumKind,
  INTEGER,
  isInteger32,
  jsonKind,
  numberKind,
  stringKind,
  VERSION,
} from './plain-kinds.js';
import { idKind, uuidKind } from './uuid-kinds.js';

/** All kinds of field types. */
const KINDS: { readonly [K in KindName]: FieldKind<TypeOf<K>> } = {
  string: stringKind,
  number: numberKind,
  bigint: bigintKind,
  boolean: booleanKind,
  instant: instantKind,
  decimal: decimalKind,
  uuid: uuidKind,
  currency: currencyKind,
  id: idKind,
  enum: enumKind,
  json: jsonKind,
  list: listKind,
  tuple: tupleKind,
  record: recordKind,
  union: unionKind,
  recursive: recursiveKind,
  again: againKind,
  object: objectKind,
};

/** The kind of a type. */
export function kindOf<T extends FieldType>({ kind }: T): FieldKind<T> {
  // The compiler does not see that the type parameter is one of the union's members.
  return KINDS[kind] as unknown as FieldKind<T>;
}

/** The kind of a type's values in JSON. */
export function jsonKindOf(type: FieldType): JsonKind {
  return kindOf(type).jsonKind?.(type, jsonKindOf) ?? 'string';
}

/** The types directly inside of a type. */
export function partsOf(type: FieldType): readonly FieldType[] {
  return kindOf(type).parts?.(type) ?? [];
}

/** Whether the JSON form of every value of the type is the value itself. */
export function isJson(type: FieldType): boolean {
  return kindOf(type).isText !== true && partsOf(type).every(isJson);
}

/** Whether a field may be null: every JSON value includes null. */
export function takesNull({ type, nullable }: Pick<FieldDescriptor, 'type' | 'nullable'>): boolean {
  return nullable === true || type.kind === 'json';
}

/** The column of a field; undefined: a JSON document. */
export function columnKindOf({ field, type, sqlType }: ColumnDescriptor): ColumnKind | undefined {
  if (field === 'version') return VERSION;
  if (type.kind === 'number' && normalizeType(sqlType) === 'integer') return INTEGER;
  return kindOf(type).column?.(type);
}

/**
 * Whether a value of unknown origin, such as a claim, can be compared with a column. Any value can be compared with a
 * document.
 */
export function isColumnValue(column: ColumnDescriptor, value: unknown): boolean {
  const { type } = column;
  if (columnKindOf(column) === INTEGER) return isInteger32(value);
  return kindOf(type).isValue?.(value, type) ?? true;
}
