import type { ColumnDescriptor, FieldType } from '../../domain/descriptor.js';
import { freezeDocument } from '../../domain/frozen-document.js';
import type { JsonValue } from '../../domain/json.js';
import { compileReader, compileWriter } from '../../domain/json-codec.js';
import { jsonText } from '../../domain/json-text.js';
import type { ColumnKind } from '../../domain/kinds/field-kind.js';
import { instantText } from '../../domain/kinds/instant-kind.js';
import { columnKindOf, isJson } from '../../domain/kinds/kinds.js';
import { INDEXED_LENGTH } from '../../domain/kinds/plain-kinds.js';
import { normalizeType } from '../../domain/sql-type.js';
import { DatabaseError, ValidationError } from '../../errors.js';
import { PackedArray } from '../../sharding/packed-array.js';

/** Converts the values of one column to text, alone or as the elements of one array, and back from driver values. */
export interface ColumnCodec {
  /** The text of a parameter. @throws ValidationError if it does not fit */
  readonly toText: (value: unknown) => string;
  /** The element of an array literal: the text, quoted where it needs it. @throws ValidationError if it does not fit */
  readonly toElement: (value: unknown) => string;
  /**
   * The values, none of them null, as one binary array. Undefined if one of them has no binary form. Absent if the
   * column's type has none.
   */
  readonly pack?: (values: readonly unknown[]) => PackedArray | undefined;
  /** Converts the driver's value (see `Rows`), which is never null. */
  readonly fromDriver: (value: unknown) => unknown;
  /**
   * Whether the server certainly accepts a value for which there is a text. For a column with a declared type, such as
   * `varchar(20)`, only the server can decide.
   */
  readonly isValidated: (value: unknown, text: string) => boolean;
}

/** An array as the value of a parameter. */
export type ArrayValue = string | PackedArray;

type ValueCodec = Pick<ColumnCodec, 'toText' | 'toElement' | 'fromDriver'>;

/** The codec of a column. */
export function columnCodec(column: ColumnDescriptor): ColumnCodec {
  const kind = columnKindOf(column);
  const { field, type, sqlType } = column;
  const { sqlType: expected, isStorable = always } = kind ?? DOCUMENT;
  const isValidated = normalizeType(sqlType) === expected ? isStorable : never;
  const document = isJson(type) ? jsonCodec : documentCodec;
  const codec = kind === undefined ? document(type, field) : scalarCodec(kind, field);
  const pack = packer(column);
  return { ...codec, isValidated, ...(pack && { pack }) };
}

/** A binary array has exactly one element type, so the column's SQL type counts, not only the field's type. */
function packer({ type, sqlType }: ColumnDescriptor): ColumnCodec['pack'] {
  if (sqlType === 'uuid') return (values) => PackedArray.ofUuids(values.map(String));
  if (sqlType !== 'timestamptz' || type.kind !== 'instant') return undefined;
  return (values) => PackedArray.ofInstants(values as readonly Date[]);
}

function scalarCodec({ text, isQuoted, fromDriver = same }: ColumnKind, field: string): ValueCodec {
  const toText = text(field);
  const toElement = (value: unknown): string => textElement(value as string, toText);
  return { toText, toElement: isQuoted === true ? toElement : toText, fromDriver };
}

/** Codec for values whose JSON form is the value itself. */
function jsonCodec(_: FieldType, field: string): ValueCodec {
  return {
    toText: (value) => jsonText(value, field),
    toElement: (value) => jsonElement(jsonText(value, field)),
    fromDriver: freezeDocument,
  };
}

/**
 * Codec for documents that contain decimals, instants or ids, which JSON holds as text. Reading restores their types.
 */
function documentCodec(type: FieldType, field: string): ValueCodec {
  const write = compileWriter(type, field);
  const read = compileReader(type, field);
  return {
    toText: write,
    toElement: (value) => jsonElement(write(value)),
    fromDriver: (value) => freezeDocument(readStored(() => read(value as JsonValue), field)),
  };
}

/** What is stored is no mistake of the caller. @throws DatabaseError instead of ValidationError */
function readStored(read: () => unknown, field: string): unknown {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new DatabaseError(`A stored value of ${field} has another shape: ${error.message}`, {
      cause: error,
    });
  }
}

/** An array literal of elements made by `toElement` (or the word `NULL`). */
export function arrayLiteral(elements: readonly string[]): string {
  return `{${elements.join(',')}}`;
}

/**
 * Quotes JSON text as an element of an array literal. JSON text holds no raw control characters, so backslashes and
 * quotes are the only characters to escape.
 */
export function jsonElement(json: string): string {
  return JSON.stringify(json);
}

/** Quotes any text as an element of an array literal. */
export function quoteElement(text: string): string {
  return NEEDS_ESCAPE.test(text) ? `"${text.replace(ESCAPED, '\\$&')}"` : `"${text}"`;
}

/** Any texts as one array. */
export function textArray(texts: readonly string[]): string {
  return arrayLiteral(texts.map(quoteElement));
}

/** UUIDs as one array: binary if all have the usual form, otherwise an array literal. */
export function uuidArray(ids: readonly string[]): ArrayValue {
  return PackedArray.ofUuids(ids) ?? textArray(ids);
}

/** Instants as one array: binary if all lie within the years 0001 to 9999, otherwise an array literal. */
export function instantArray(dates: readonly Date[]): ArrayValue {
  return PackedArray.ofInstants(dates) ?? arrayLiteral(dates.map((date) => quoteElement(instantText(date))));
}

/** JSON texts as one array. */
export function jsonArray(texts: readonly string[]): string {
  return `[${texts.join(',')}]`;
}

const NEEDS_ESCAPE = /["\\]/;
const ESCAPED = /["\\]/g;
/** Text of letters, digits and hyphens needs no quotes in an array literal, except the word NULL. */
const PLAIN = /^(?!null$)[A-Za-z0-9_-]+$/i;

function textElement(value: string, toText: ColumnCodec['toText']): string {
  return PLAIN.test(value) ? value : quoteElement(toText(value));
}

function same(value: unknown): unknown {
  return value;
}

/** Escapes that `jsonb` refuses: NUL and unpaired surrogates. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/;

const DOCUMENT = {
  sqlType: 'jsonb',
  isStorable: (_: unknown, json: string): boolean =>
    json.length <= INDEXED_LENGTH && !UNSTORABLE_ESCAPE.test(json),
};

function never(): boolean {
  return false;
}

function always(): boolean {
  return true;
}
