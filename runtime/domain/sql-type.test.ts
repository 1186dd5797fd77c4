import { expect, it } from 'vitest';
import { normalizeType } from './sql-type.js';

it.each([
  ['DECIMAL(19, 4)', 'numeric(19,4)'],
  ['numeric(19)', 'numeric(19,0)'],
  ['char(3)', 'character(3)'],
  ['char', 'character(1)'],
  ['varchar(40)', 'character varying(40)'],
  ['timestamptz', 'timestamp with time zone'],
  ['timestamptz(3)', 'timestamp(3) with time zone'],
  ['timestamp(3) with time zone', 'timestamp(3) with time zone'],
  ['timestamp', 'timestamp without time zone'],
  ['float8', 'double precision'],
  ['double  precision', 'double precision'],
  ['int8', 'bigint'],
  ['text[]', 'text[]'],
  ['int4[]', 'integer[]'],
  ['citext', 'citext'],
])('%s and %s are one type', (left, right) => {
  expect(normalizeType(left)).toBe(normalizeType(right));
});

it.each([
  ['numeric(19,4)', 'numeric(19,5)'],
  ['char(3)', 'char(4)'],
  ['text', 'text[]'],
  ['timestamptz', 'timestamp'],
  ['varchar', 'varchar(1)'],
])('%s and %s are two types', (left, right) => {
  expect(normalizeType(left)).not.toBe(normalizeType(right));
});
