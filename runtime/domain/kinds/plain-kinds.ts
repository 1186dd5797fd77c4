import { ValidationError } from '../../errors.js';
import { jsonText } from '../json-text.js';
import { storable } from '../storable-text.js';
import type { ColumnKind, FieldKind, TypeOf } from './field-kind.js';
import { finiteText, parsed, quoted, refuse, textOf } from './json-values.js';

/** Texts without NUL, which PostgreSQL does not store. */
const STORABLE = '^[^\\u0000]*$';
/** Text of this length, in UTF-16 units, fits into any index: a B-tree index entry has at most 2,704 bytes. */
export const INDEXED_LENGTH = 600;
const BIGINT_LIMIT = 2n ** 63n;
/** The texts of integers of 64 bits. */
const INTEGER_64 = `^(-?(${atMost('9223372036854775807')})|-9223372036854775808)$`;

const STRING: ColumnKind = {
  sqlType: 'text',
  order: 'text',
  text: (field) => (value) => storable(requireText(value, field), field),
  isQuoted: true,
  isStorable: (value) => (value as string).length <= INDEXED_LENGTH,
};

/** The column of texts whose SQL type is `varchar(length)`, which cuts off spaces, or `char(length)`, which adds them. */
export function limited(kind: ColumnKind, length: number, isPadded: boolean): ColumnKind {
  const limit = `${isPadded ? '' : 'at most '}${length} characters`;
  return {
    ...kind,
    isLimited: true,
    text: (field) => {
      const textOf = kind.text(field);
      return (value) => {
        const text = textOf(value);
        const { length: count } = [...text];
        if (count <= length && (count === length || !isPadded)) return text;
        throw new ValidationError(`${field} must have ${limit}`, { field });
      };
    },
  };
}

const NUMBER: ColumnKind = {
  sqlType: 'double precision',
  order: 'double',
  text: (field) => (value) => finiteText(value, field),
  fromDriver: Number,
};

const INTEGER_LIMIT = 2 ** 31;

/** The column of a number whose SQL type is `integer`. */
export const INTEGER: ColumnKind = {
  ...NUMBER,
  sqlType: 'integer',
  text: (field) => (value) => {
    if (isInteger32(value)) return String(value);
    throw new ValidationError(`${field} must be an integer of 32 bits`, { field });
  },
  isStorable: isInteger32,
};

/** Whether a value fits a column of type `integer`. */
function isInteger32(value: unknown): boolean {
  return (
    typeof value === 'number' && Number.isInteger(value) && value < INTEGER_LIMIT && value >= -INTEGER_LIMIT
  );
}

/** The column of a version: a bigint in the table, a number in the model. */
export const VERSION: ColumnKind = {
  sqlType: 'bigint',
  order: 'integer',
  text: () => String,
  fromDriver: Number,
};

const BOOLEAN: ColumnKind = {
  sqlType: 'boolean',
  order: 'boolean',
  text: (field) => (value) => (requireBoolean(value, field) ? 't' : 'f'),
};

export const stringKind: FieldKind<TypeOf<'string'>> = {
  writer: (_, field) => (value) => JSON.stringify(requireText(value, field.name)),
  reader: (_, field) => (json) => requireText(json, field.name),
  column: () => STRING,
  isValue: (value) => typeof value === 'string',
  schema: (_, { direction }) =>
    direction === 'request' ? { type: 'string', pattern: STORABLE } : { type: 'string' },
  example: (_, name) => name,
};

/** A double. */
export const numberKind: FieldKind<TypeOf<'number'>> = {
  writer: (_, field) => (value) => finiteText(value, field.name),
  reader: (_, field) => (json) => (typeof json === 'number' ? json : refuse(field.name, 'a number')),
  jsonKind: () => 'number',
  column: () => NUMBER,
  isValue: (value) => Number.isFinite(value),
  schema: () => ({ type: 'number' }),
  example: () => 1,
};

export const booleanKind: FieldKind<TypeOf<'boolean'>> = {
  writer: (_, field) => (value) => String(requireBoolean(value, field.name)),
  reader: (_, field) => (json) => requireBoolean(json, field.name),
  jsonKind: () => 'boolean',
  column: () => BOOLEAN,
  isValue: (value) => typeof value === 'boolean',
  schema: () => ({ type: 'boolean' }),
  example: () => true,
};

/** A `bigint` of 64 bits; text in JSON. */
export const bigintKind: FieldKind<TypeOf<'bigint'>> = {
  writer: (_, field) => (value) => quoted(String(requireBigint(value, field.name))),
  reader: (_, field) => (json) =>
    parsed(field.name, 'an integer as a string', () => BigInt(textOf(json, field.name))),
  isText: true,
  column: () => ({
    sqlType: 'bigint',
    order: 'integer',
    text: (field) => (value) => bigintText(requireBigint(value, field), field),
    fromDriver: (value) => BigInt(value as string),
  }),
  isValue: (value) => typeof value === 'bigint',
  schema: (_, { direction }) =>
    direction === 'request'
      ? { type: ['string', 'integer'], pattern: INTEGER_64, minimum: -(2 ** 63), exclusiveMaximum: 2 ** 63 }
      : { type: 'string', pattern: INTEGER_64 },
  example: () => '1',
};

/** An ISO 4217 code. */
export const currencyKind: FieldKind<TypeOf<'currency'>> = {
  writer: (_, field) => (value) => quoted(requireText(value, field.name)),
  reader: (_, field) => (json) => requireText(json, field.name),
  column: () => ({
    ...STRING,
    sqlType: 'character(3)',
    isStorable: (value) => (value as string).length <= 3,
  }),
  isValue: (value) => typeof value === 'string',
  schema: (_, { currency }) => currency(),
  example: () => 'EUR',
};

/** A union of literals or an enum. */
export const enumKind: FieldKind<TypeOf<'enum'>> = {
  writer: (type, { name }) => {
    const member = memberOf(type, name);
    return (value) => JSON.stringify(member(value));
  },
  reader: (type, { name }) => memberOf(type, name),
  jsonKind: ({ values }) => typeof values[0] as 'string' | 'number' | 'boolean',
  column: ({ values }) => {
    const [kind, ...others] = new Set(values.map((value) => typeof value));
    if (others.length > 0) return undefined;
    return kind === 'number' ? NUMBER : kind === 'boolean' ? BOOLEAN : STRING;
  },
  isValue: (value, { values }) => values.some((each) => each === value),
  schema: ({ values }) => {
    const [kind, ...others] = new Set(values.map((value) => typeof value));
    return others.length > 0 || kind === undefined ? { enum: values } : { type: kind, enum: values };
  },
  example: ({ values }) => values[0] ?? '',
};

/** Any JSON value. */
export const jsonKind: FieldKind<TypeOf<'json'>> = {
  writer: (_, field) => (value) => jsonText(value, field.name),
  reader: () => (json) => json,
  schema: () => ({}),
  example: () => ({}),
};

/** Writers check values as readers do: otherwise, a value could be stored and never be read. */
function memberOf({ values }: TypeOf<'enum'>, name: string): <T>(value: T) => T {
  return (value) =>
    (values as readonly unknown[]).includes(value) ? value : refuse(name, `one of ${values.join(', ')}`);
}

function requireText(value: unknown, name: string): string {
  return typeof value === 'string' ? value : refuse(name, 'a string');
}

function requireBoolean(value: unknown, name: string): boolean {
  return typeof value === 'boolean' ? value : refuse(name, 'true or false');
}

function requireBigint(value: unknown, name: string): bigint {
  return typeof value === 'bigint' ? value : refuse(name, 'a bigint');
}

function bigintText(value: bigint, field: string): string {
  if (value >= BIGINT_LIMIT || value < -BIGINT_LIMIT) {
    throw new ValidationError(`${field} is out of range: 64 bits are stored`, { field });
  }
  return String(value);
}

/** A pattern of the integers up to this one, whose first digit is not 1. */
function atMost(largest: string): string {
  const smaller = [...largest].flatMap((digit, at) => {
    const [least, most] = [at === 0 ? 1 : 0, Number(digit) - 1];
    return most < least ? [] : [`${largest.slice(0, at)}[${least}-${most}][0-9]{${largest.length - at - 1}}`];
  });
  return ['0', `[1-9][0-9]{0,${largest.length - 2}}`, ...smaller, largest].join('|');
}
