import type { ColumnDescriptor } from '../../domain/descriptor.js';
import { isInteger32, isIntegerColumn } from '../../domain/integer-32.js';
import { kindOf } from '../../domain/kinds/kinds.js';
import { INDEXED_LENGTH } from '../../domain/kinds/plain-kinds.js';
import { normalizeType } from '../../domain/sql-type.js';

/** Escapes that `jsonb` refuses: NUL and unpaired surrogates. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/;

/** @param text the codec's text for the value */
export type IsValidated = (value: unknown, text: string) => boolean;

/**
 * A function that returns whether the server certainly accepts a value that the column's codec has accepted. For a
 * column with a declared type, such as `varchar(20)`, only the server can decide.
 */
export function validatedValues(column: ColumnDescriptor): IsValidated {
  if (isIntegerColumn(column)) return isInteger32;
  const { type, sqlType } = column;
  const { sqlType: expected, isStorable = always } = kindOf(type).column?.(type) ?? DOCUMENT;
  return normalizeType(sqlType) === expected ? isStorable : never;
}

const DOCUMENT = {
  sqlType: 'jsonb',
  isStorable: (_: unknown, text: string): boolean => isStorableJson(text),
};

function never(): boolean {
  return false;
}

function always(): boolean {
  return true;
}

function isStorableJson(json: string): boolean {
  return json.length <= INDEXED_LENGTH && !UNSTORABLE_ESCAPE.test(json);
}
