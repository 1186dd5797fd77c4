import type { ColumnDescriptor } from '../../domain/descriptor.js';
import { isDocument } from '../../domain/document-type.js';
import { isInteger32 } from '../../domain/integer-32.js';
import { normalizeType } from '../../domain/sql-type.js';
import { columnOfEnum, type EnumColumn } from './enum-column.js';

/** Text of this length, in UTF-16 units, fits into any index: a B-tree index entry has at most 2,704 bytes. */
const VALIDATED_LENGTH = 600;
/** Escapes that `jsonb` refuses: NUL and unpaired surrogates. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/;
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** @param text the codec's text for the value */
export type IsValidated = (value: unknown, text: string) => boolean;

/**
 * A function that returns whether the server certainly accepts a value that the column's codec has accepted. For a
 * column with a declared type, such as `varchar(20)`, only the server can decide.
 */
export function validatedValues({ type, sqlType }: ColumnDescriptor): IsValidated {
  const column = normalizeType(sqlType);
  const inColumn = (expected: string, isValidated: IsValidated): IsValidated =>
    column === expected ? isValidated : never;
  if (isDocument(type)) return inColumn('jsonb', (_, text) => isStorableJson(text));
  switch (type.kind) {
    case 'enum':
      return validatedEnum(columnOfEnum(type), inColumn);
    case 'string':
      return inColumn('text', (value) => (value as string).length <= VALIDATED_LENGTH);
    case 'currency':
      return inColumn('character(3)', (value) => (value as string).length <= 3);
    case 'uuid':
    case 'id':
      return inColumn('uuid', always);
    case 'number':
      return column === 'integer' ? isInteger32 : inColumn('double precision', always);
    case 'bigint':
    case 'boolean':
      return inColumn(type.kind, always);
    case 'instant':
      return inColumn('timestamptz', (value) => isCommonInstant(value as Date));
    case 'decimal':
      return inColumn(`numeric(${type.precision},${type.scale})`, always);
  }
}

/** The generator creates the column with the type of the enum's values, so each of them fits. */
function validatedEnum(
  kind: EnumColumn,
  inColumn: (expected: string, isValidated: IsValidated) => IsValidated,
): IsValidated {
  switch (kind) {
    case 'string':
      return inColumn('text', (value) => (value as string).length <= VALIDATED_LENGTH);
    case 'number':
      return inColumn('double precision', always);
    case 'boolean':
      return inColumn('boolean', always);
    case 'json':
      return inColumn('jsonb', (_, text) => isStorableJson(text));
  }
}

function never(): boolean {
  return false;
}

function always(): boolean {
  return true;
}

function isCommonInstant(date: Date): boolean {
  const milliseconds = date.getTime();
  return milliseconds >= FIRST_MS && milliseconds <= LAST_MS;
}

function isStorableJson(json: string): boolean {
  return json.length <= VALIDATED_LENGTH && !UNSTORABLE_ESCAPE.test(json);
}
