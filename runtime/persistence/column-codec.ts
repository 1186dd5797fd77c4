import { Decimal } from '../domain/decimal.js';
import type { ColumnDescriptor, FieldType } from '../domain/descriptor.js';
import { type Id, idNamed, ShardedId } from '../domain/id.js';
import { ValidationError } from '../errors.js';

/** How the values of one column travel: as the elements of one array parameter, and back as driver values. */
export interface ColumnCodec {
  /** The element of an array literal, quoted where its text needs it. @throws ValidationError if it does not fit */
  readonly toElement: (value: unknown) => string;
  /** From the driver's value (see `Rows`), never null. */
  readonly fromDriver: (value: unknown) => unknown;
}

/** The codec of a column. */
export function columnCodec(column: ColumnDescriptor): ColumnCodec {
  // A version is a bigint in the table and a number in the model.
  if (column.field === 'version') return { toElement: String, fromDriver: Number };
  return codecOf(column.type, column.field);
}

function codecOf(type: FieldType, field: string): ColumnCodec {
  switch (type.kind) {
    case 'string':
    case 'enum':
      return { toElement: (value) => textElement(value as string, field), fromDriver: same };
    case 'number':
      return { toElement: (value) => numberElement(value as number, field), fromDriver: Number };
    case 'bigint':
      return {
        toElement: (value) => bigintElement(value as bigint, field),
        fromDriver: (value) => BigInt(value as string),
      };
    case 'boolean':
      return { toElement: (value) => (value === true ? 't' : 'f'), fromDriver: same };
    case 'instant':
      return { toElement: (value) => instantElement(value as Date, field), fromDriver: same };
    case 'decimal':
      return {
        toElement: decimalElement(type.precision, type.scale, field),
        fromDriver: (value) => new Decimal(value as string),
      };
    case 'uuid':
    case 'currency':
      return { toElement: (value) => textElement(value as string, field), fromDriver: same };
    case 'id':
      return {
        toElement: (value) => (value as Id<unknown>).getValue(),
        fromDriver: idFromDriver(type.model, type.sharded),
      };
    case 'json':
    case 'list':
    case 'object':
      return { toElement: (value) => jsonElement(JSON.stringify(value)), fromDriver: deepFreeze };
  }
}

/** An array literal of elements made by `toElement` (or the word `NULL`). */
export function arrayLiteral(elements: readonly string[]): string {
  return `{${elements.join(',')}}`;
}

/** Quotes JSON text, which holds no raw control characters: what JSON escapes is then just what an array literal does. */
export function jsonElement(json: string): string {
  return JSON.stringify(json);
}

/** Quotes any text as an element of an array literal. */
export function quoteElement(text: string): string {
  return NEEDS_ESCAPE.test(text) ? `"${text.replace(ESCAPED, '\\$&')}"` : `"${text}"`;
}

const NEEDS_ESCAPE = /["\\]/;
const ESCAPED = /["\\]/g;
/** Text of letters, digits and hyphens needs no quotes, but for the word NULL. */
const PLAIN = /^(?!null$)[A-Za-z0-9_-]+$/i;
/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;
const BIGINT_LIMIT = 2n ** 63n;

function textElement(value: string, field: string): string {
  if (PLAIN.test(value)) return value;
  if (UNSTORABLE.test(value)) {
    throw new ValidationError(`${field} holds a character that cannot be stored`, { field });
  }
  return quoteElement(value);
}

function numberElement(value: number, field: string): string {
  if (!Number.isFinite(value)) throw new ValidationError(`${field} must be a finite number`, { field });
  return String(value);
}

function bigintElement(value: bigint, field: string): string {
  if (value >= BIGINT_LIMIT || value < -BIGINT_LIMIT) {
    throw new ValidationError(`${field} is out of range: 64 bits are stored`, { field });
  }
  return String(value);
}

let lastInstantMs = Number.NaN;
let lastInstantText = '';

/** ISO 8601 in UTC. Many instants of one process fall into one millisecond, and making the text is slow. */
export function instantText(date: Date): string {
  const milliseconds = date.getTime();
  if (milliseconds !== lastInstantMs) {
    lastInstantText = date.toISOString();
    lastInstantMs = milliseconds;
  }
  return lastInstantText;
}

function instantElement(value: Date, field: string): string {
  if (Number.isNaN(value.getTime())) throw new ValidationError(`${field} is not a valid date`, { field });
  return instantText(value);
}

/** PostgreSQL would round what has too many decimals; here it is refused. */
function decimalElement(precision: number, scale: number, field: string): (value: unknown) => string {
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
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

function same(value: unknown): unknown {
  return value;
}
