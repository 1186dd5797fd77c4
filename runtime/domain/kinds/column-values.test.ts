import { Decimal } from 'decimal.js';
import { expect, test } from 'vitest';
import type { FieldType } from '../descriptor.js';
import { Id } from '../id.js';
import { isColumnValue } from './kinds.js';

class Note {}

const UUID = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const VALUES: Readonly<Record<string, unknown>> = {
  text: 'x',
  uuid: UUID,
  integer: 5,
  'smallest integer': -(2 ** 31),
  'too large': 2 ** 31,
  fraction: 1.5,
  infinity: Number.POSITIVE_INFINITY,
  bigint: 5n,
  true: true,
  date: new Date(0),
  'invalid date': new Date(Number.NaN),
  decimal: new Decimal(1),
  id: Id.of(Note, UUID),
  list: ['x'],
  object: {},
};

test.each<[FieldType, string, readonly string[]]>([
  [{ kind: 'string' }, 'text', ['text', 'uuid']],
  [{ kind: 'string' }, 'varchar(9)', ['text']],
  [{ kind: 'uuid' }, 'uuid', ['uuid']],
  [{ kind: 'id', model: 'Note', sharded: false }, 'uuid', ['id']],
  [{ kind: 'number' }, 'integer', ['integer', 'smallest integer']],
  [{ kind: 'number' }, 'double precision', ['integer', 'smallest integer', 'too large', 'fraction']],
  [{ kind: 'bigint' }, 'bigint', ['bigint']],
  [{ kind: 'boolean' }, 'boolean', ['true']],
  [{ kind: 'instant' }, 'timestamptz', ['date']],
  [{ kind: 'decimal', precision: 19, scale: 4 }, 'numeric(19,4)', ['decimal']],
  [{ kind: 'enum', values: ['x', 5] }, 'jsonb', ['text', 'integer']],
  [{ kind: 'json' }, 'jsonb', []],
])('a column of %j (%s) can be compared with values of its type alone', (type, sqlType, expected) => {
  const column = { field: 'a', column: 'a', type, sqlType };
  expect(Object.keys(VALUES).filter((name) => isColumnValue(column, VALUES[name]))).toEqual(expected);
});
