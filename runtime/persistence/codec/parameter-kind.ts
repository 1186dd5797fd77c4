import { instantText } from '../../domain/kinds/instant-kind.js';
import {
  type ArrayValue,
  arrayLiteral,
  instantArray,
  jsonArray,
  jsonElement,
  quoteElement,
  uuidArray,
} from './column-codec.js';

/** How values of one kind are sent: a single value as a parameter, the values of many rows as one array parameter. */
export interface ParameterKind<V> {
  /** SQL type of a single value. */
  readonly type: string;
  readonly one: (value: V) => string | null;
  /** SQL type of the array parameter. */
  readonly manyType: string;
  readonly many: <R>(rows: readonly R[], of: (row: R) => V) => ArrayValue;
  /** SQL function that expands the array parameter into rows. Default: `unnest`. */
  readonly expand?: string;
  /** If no row has a value, SQL has `NULL` in place of a parameter. Default false. */
  readonly isOptional?: true;
}

type One<V> = ParameterKind<V>['one'];

function packed<V>(type: string, one: One<V>, pack: (values: readonly V[]) => ArrayValue): ParameterKind<V> {
  return { type, one, manyType: `${type}[]`, many: (rows, of) => pack(rows.map(of)) };
}

function literal<V>(type: string, one: One<V>, element: (value: V) => string): ParameterKind<V> {
  return {
    ...{ type, one, manyType: `${type}[]` },
    many: (rows, of) => arrayLiteral(rows.map((row) => element(of(row)))),
  };
}

function optional(type: string, element: (text: string) => string): ParameterKind<string | undefined> {
  const orNull = (text: string | undefined): string => (text === undefined ? 'NULL' : element(text));
  return { ...literal(type, (text) => text ?? null, orNull), isOptional: true };
}

const same = (text: string): string => text;

export const UUID: ParameterKind<string> = packed('uuid', same, uuidArray);
export const TEXT: ParameterKind<string> = literal('text', same, quoteElement);
export const OPTIONAL_TEXT: ParameterKind<string | undefined> = optional('text', quoteElement);
export const INT: ParameterKind<number> = literal('int', String, String);
export const BIGINT: ParameterKind<number> = literal('bigint', String, String);
export const NULLABLE_BIGINT: ParameterKind<number | undefined> = literal(
  'bigint',
  (value) => (value === undefined ? null : String(value)),
  (value) => (value === undefined ? 'NULL' : String(value)),
);
export const OPTIONAL_XID: ParameterKind<string | undefined> = literal(
  'xid',
  (xid) => xid ?? null,
  (xid) => xid ?? 'NULL',
);
export const FLAG: ParameterKind<boolean> = literal('bool', String, (flag) => (flag ? 't' : 'f'));
export const INSTANT: ParameterKind<Date> = packed('timestamptz', instantText, instantArray);
export const ISO_INSTANT: ParameterKind<string> = literal('timestamptz', same, quoteElement);
/** JSON text. */
export const JSON_TEXT: ParameterKind<string> = literal('jsonb', same, jsonElement);
export const OPTIONAL_JSON: ParameterKind<string | undefined> = optional('jsonb', jsonElement);
/** JSON text. Many documents are sent as one JSON array, so that no document is quoted again as an array element. */
export const DOCUMENT: ParameterKind<string | undefined> = {
  ...{ type: 'jsonb', one: (json) => json ?? null, manyType: 'jsonb', expand: 'jsonb_array_elements' },
  many: (rows, of) => jsonArray(rows.map((row) => of(row) ?? 'null')),
};
