import { Decimal } from '../../domain/decimal.js';
import type { ColumnDescriptor, FieldType } from '../../domain/descriptor.js';
import { isDocument } from '../../domain/document-type.js';
import { Id, idNamed, ShardedId } from '../../domain/id.js';
import { isInteger32 } from '../../domain/integer-32.js';
import type { JsonValue } from '../../domain/json.js';
import { compileReader } from '../../domain/json-reader.js';
import { jsonText } from '../../domain/json-text.js';
import { compileWriter } from '../../domain/json-writer.js';
import { normalizeType } from '../../domain/sql-type.js';
import { storable } from '../../domain/storable-text.js';
import { canonicalUuid, type Uuid } from '../../domain/uuid.js';
import { ValidationError } from '../../errors.js';
import { PackedArray } from '../../sharding/packed-array.js';
import { columnOfEnum, type EnumColumn } from './enum-column.js';

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
}

/** An array as the value of a parameter. */
export type ArrayValue = string | PackedArray;

/** The codec of a column. */
export function columnCodec(column: ColumnDescriptor): ColumnCodec {
  // A version is a bigint in the table and a number in the model.
  if (column.field === 'version') return unquoted(String, Number);
  const codec = isInteger(column) ? integerCodec(column.field) : codecOf(column.type, column.field);
  const pack = packer(column);
  return pack === undefined ? codec : { ...codec, pack };
}

function isInteger({ type, sqlType }: ColumnDescriptor): boolean {
  return type.kind === 'number' && normalizeType(sqlType) === 'integer';
}

/** A binary array has exactly one element type, so the column's SQL type counts, not only the field's type. */
function packer({ type, sqlType }: ColumnDescriptor): ColumnCodec['pack'] {
  if (sqlType === 'uuid') return (values) => PackedArray.ofUuids(values.map(String));
  if (sqlType !== 'timestamptz' || type.kind !== 'instant') return undefined;
  return (values) => PackedArray.ofInstants(values as readonly Date[]);
}

function codecOf(type: FieldType, field: string): ColumnCodec {
  if (isDocument(type)) return isJson(type) ? jsonCodec(field) : documentCodec(type, field);
  switch (type.kind) {
    case 'enum':
      return codecOfEnum(columnOfEnum(type), field);
    case 'string':
    case 'currency':
      return {
        toText: (value) => storable(value as string, field),
        toElement: (value) => textElement(value as string, field),
        fromDriver: same,
      };
    case 'uuid':
      return unquoted((value) => canonicalUuid(value as Uuid, field), same);
    case 'number':
      return unquoted((value) => numberText(value as number, field), Number);
    case 'bigint':
      return unquoted(
        (value) => bigintText(value as bigint, field),
        (value) => BigInt(value as string),
      );
    case 'boolean':
      return unquoted((value) => (value === true ? 't' : 'f'), same);
    case 'instant':
      return unquoted((value) => validInstantText(value as Date, field), same);
    case 'decimal':
      return unquoted(
        decimalText(type.precision, type.scale, field),
        (value) => new Decimal(value as string),
      );
    case 'id':
      return unquoted((value) => (value as Id<unknown>).getValue(), idFromDriver(type.model, type.sharded));
  }
}

/** Values of an enum are encoded like those of a field with the values' own type. */
function codecOfEnum(kind: EnumColumn, field: string): ColumnCodec {
  return kind === 'json' ? jsonCodec(field) : codecOf({ kind }, field);
}

/** Codec for values whose JSON form is the value itself. */
function jsonCodec(field: string): ColumnCodec {
  return {
    toText: (value) => jsonText(value, field),
    toElement: (value) => jsonElement(jsonText(value, field)),
    fromDriver: deepFreeze,
  };
}

/**
 * Codec for documents that contain decimals, instants or ids, which JSON holds as text. Reading restores their types.
 */
function documentCodec(type: FieldType, field: string): ColumnCodec {
  const write = compileWriter(type, field);
  const read = compileReader(type, field);
  return {
    toText: write,
    toElement: (value) => jsonElement(write(value)),
    fromDriver: (value) => deepFreeze(read(value as JsonValue)),
  };
}

/** Whether the JSON form of every value of the type is the value itself. */
function isJson(type: FieldType): boolean {
  switch (type.kind) {
    case 'bigint':
    case 'instant':
    case 'decimal':
    case 'id':
      return false;
    case 'list':
    case 'record':
    case 'recursive':
      return isJson(type.of);
    case 'tuple':
      return [...type.items, ...(type.rest === undefined ? [] : [type.rest])].every((item) =>
        isJson(item.type),
      );
    case 'union':
      return type.of.every(isJson);
    case 'object':
      return type.fields.every((each) => isJson(each.type));
    default:
      return true;
  }
}

/** Codec for texts without characters that an array literal would need quoted. */
function unquoted(toText: ColumnCodec['toText'], fromDriver: ColumnCodec['fromDriver']): ColumnCodec {
  return { toText, toElement: toText, fromDriver };
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

/** UUIDs as one array: binary if all have the usual form, otherwise an array literal. */
export function uuidArray(ids: readonly string[]): ArrayValue {
  return PackedArray.ofUuids(ids) ?? arrayLiteral(ids.map(quoteElement));
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
const BIGINT_LIMIT = 2n ** 63n;
/** Outside of the years 0001 to 9999, ISO 8601 and PostgreSQL write years differently. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

function textElement(value: string, field: string): string {
  return PLAIN.test(value) ? value : quoteElement(storable(value, field));
}

function numberText(value: number, field: string): string {
  if (!Number.isFinite(value)) throw new ValidationError(`${field} must be a finite number`, { field });
  return String(value);
}

function integerCodec(field: string): ColumnCodec {
  return unquoted((value) => {
    if (isInteger32(value)) return String(value);
    throw new ValidationError(`${field} must be an integer of 32 bits`, { field });
  }, Number);
}

function bigintText(value: bigint, field: string): string {
  if (value >= BIGINT_LIMIT || value < -BIGINT_LIMIT) {
    throw new ValidationError(`${field} is out of range: 64 bits are stored`, { field });
  }
  return String(value);
}

const INSTANT_SLOTS = 64;
const instantsMs = new Float64Array(INSTANT_SLOTS).fill(Number.NaN);
const instantTexts: string[] = new Array<string>(INSTANT_SLOTS).fill('');

/**
 * An instant as ISO 8601 text in UTC. Formatting is slow, and under load many instants fall into the same few
 * milliseconds, so the last texts are cached.
 */
export function instantText(date: Date): string {
  const milliseconds = date.getTime();
  const slot = Math.abs(milliseconds % INSTANT_SLOTS) || 0;
  if (instantsMs[slot] !== milliseconds) {
    instantTexts[slot] = date.toISOString();
    instantsMs[slot] = milliseconds;
  }
  return instantTexts[slot] ?? '';
}

function validInstantText(value: Date, field: string): string {
  if (Number.isNaN(value.getTime())) throw new ValidationError(`${field} is not a valid date`, { field });
  const milliseconds = value.getTime();
  if (milliseconds < FIRST_MS || milliseconds > LAST_MS) {
    throw new ValidationError(`${field} is out of range: years 1 to 9999 are stored`, { field });
  }
  return instantText(value);
}

/** A decimal as text. Refuses a value with too many decimal places, which PostgreSQL would round silently. */
function decimalText(precision: number, scale: number, field: string): (value: unknown) => string {
  const integerDigits = precision - scale;
  return (value) => {
    const decimal = value as Decimal;
    if (!decimal.isFinite()) throw new ValidationError(`${field} must be a finite number`, { field });
    if (decimal.decimalPlaces() > scale) {
      throw new ValidationError(`${field} has more than ${scale} decimals`, { field });
    }
    if (!decimal.isZero() && decimal.e >= integerDigits) {
      throw new ValidationError(
        `${field} is out of range: at most ${integerDigits} digits before the point`,
        { field },
      );
    }
    return decimal.toFixed();
  };
}

function idFromDriver(model: string, sharded: boolean): (value: unknown) => unknown {
  return sharded
    ? (value) => ShardedId.trusted(model, value as string)
    : (value) => idNamed(model, value as string);
}

function deepFreeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && !isScalar(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

/** Whether the value is immutable or, like a `Date`, cannot be frozen: a `Decimal` and an id never change. */
function isScalar(value: object): boolean {
  return value instanceof Date || value instanceof Decimal || value instanceof Id;
}

function same(value: unknown): unknown {
  return value;
}
