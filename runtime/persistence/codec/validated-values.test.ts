import { expect, test } from 'vitest';
import { Decimal } from '../../domain/decimal.js';
import type { FieldType } from '../../domain/descriptor.js';
import { columnCodec } from './column-codec.js';

const decimal: FieldType = { kind: 'decimal', precision: 19, scale: 4 };
const id: FieldType = { kind: 'id', model: 'Account', sharded: true };
const UUID = '0190b8a0-0000-7000-8000-000000000001';

const cases: readonly (readonly [kind: FieldType, sqlType: string, value: unknown, isValidated: boolean])[] =
  [
    [{ kind: 'string' }, 'text', 'any', true],
    [{ kind: 'string' }, 'text', 'x'.repeat(601), false],
    [{ kind: 'string' }, 'varchar(20)', 'any', false],
    [{ kind: 'string' }, 'inet', 'any', false],
    [{ kind: 'enum', values: ['OPEN'] }, 'TEXT', 'OPEN', true],
    [{ kind: 'currency' }, 'char(3)', 'EUR', true],
    [{ kind: 'currency' }, 'char(3)', 'EURO', false],
    [{ kind: 'uuid' }, 'uuid', UUID, true],
    [{ kind: 'uuid' }, 'text', UUID, false],
    [id, 'uuid', undefined, true],
    [{ kind: 'number' }, 'double precision', 0.5, true],
    [{ kind: 'number' }, 'integer', 2 ** 31 - 1, true],
    [{ kind: 'number' }, 'integer', 2 ** 31, false],
    [{ kind: 'number' }, 'integer', 0.5, false],
    [{ kind: 'number' }, 'smallint', 1, false],
    [{ kind: 'bigint' }, 'int8', 1n, true],
    [{ kind: 'bigint' }, 'integer', 1n, false],
    [{ kind: 'boolean' }, 'boolean', false, true],
    [{ kind: 'instant' }, 'timestamptz', new Date('9999-12-31T23:59:59.999Z'), true],
    [{ kind: 'instant' }, 'timestamptz', new Date('+010000-01-01T00:00:00.000Z'), false],
    [{ kind: 'instant' }, 'timestamptz', new Date('0000-12-31T00:00:00.000Z'), false],
    [{ kind: 'instant' }, 'date', new Date(0), false],
    [decimal, 'numeric(19, 4)', new Decimal(1), true],
    [decimal, 'numeric(10,4)', new Decimal(1), false],
    [{ kind: 'json' }, 'jsonb', { a: ['b'] }, true],
    [{ kind: 'json' }, 'jsonb', { a: '\0' }, false],
    [{ kind: 'list', of: { kind: 'string' } }, 'jsonb', ['\ud800'], false],
    [{ kind: 'object', fields: [] }, 'json', {}, false],
  ];

/** The codec's text for JSON; for other values only the length of the JSON text matters. */
const textOf = (value: unknown): string =>
  typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? '');

for (const [type, sqlType, value, isValidated] of cases) {
  const short = String(value).slice(0, 40);
  test(`${type.kind} in a column of type ${sqlType}: ${short} is ${isValidated ? '' : 'not '}sure`, () => {
    const codec = columnCodec({ field: 'f', column: 'f', type, sqlType });
    expect(codec.isValidated(value, textOf(value))).toBe(isValidated);
  });
}
