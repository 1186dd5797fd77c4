import { memoize } from '../../collections/memoize.js';
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
  jsonKind,
  limited,
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

/** Whether a field may be null: every JSON value includes null. */
export function takesNull({ type, nullable }: Pick<FieldDescriptor, 'type' | 'nullable'>): boolean {
  return nullable === true || type.kind === 'json';
}

/** Types of texts with a length. */
const LIMITED = /^character( varying)?\((\d+)\)$/;

/** The column of a field; undefined: a JSON document. */
export const columnKindOf: (column: ColumnDescriptor) => ColumnKind | undefined = memoize(
  ({ field, type, sqlType }) => {
    if (field === 'version') return VERSION;
    const sql = normalizeType(sqlType);
    if (type.kind === 'number' && sql === 'integer') return INTEGER;
    const kind = kindOf(type).column?.(type);
    const [, varying, length] = LIMITED.exec(sql) ?? [];
    if (kind?.order !== 'text' || length === undefined) return kind;
    return limited(kind, Number(length), varying === undefined);
  },
);

/** Writes a value of a column as text, or throws; undefined for a document. */
const textOf = memoize((column: ColumnDescriptor) => columnKindOf(column)?.text(column.field));

/** Whether values of a type can be compared with those of a caller: those of documents cannot. */
export function isComparable(type: FieldType): boolean {
  return kindOf(type).isValue !== undefined;
}

/** Whether a value of unknown origin, such as a claim, can be compared with a column: one that does not fit cannot. */
export function isColumnValue(column: ColumnDescriptor, value: unknown): boolean {
  const { type } = column;
  if (kindOf(type).isValue?.(value, type) !== true) return false;
  try {
    textOf(column)?.(value);
    return true;
  } catch {
    return false;
  }
}
