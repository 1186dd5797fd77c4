import type { FieldType } from '../descriptor.js';
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
import type { FieldKind, JsonKind, KindName, TypeOf } from './field-kind.js';
import { instantKind } from './instant-kind.js';
import {
  bigintKind,
  booleanKind,
  currencyKind,
  enumKind,
  jsonKind,
  numberKind,
  stringKind,
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
