import { describe, expect, test } from 'vitest';
import type { FieldType } from '../../domain/descriptor.js';
import { ValidationError } from '../../errors.js';
import { type SortCodec, sortCodec } from './sort-codec.js';

function codecOf(kind: 'string' | 'number' | 'json', sqlType: string): SortCodec {
  const type: FieldType = { kind };
  return sortCodec({ field: 'place', column: 'place', type, sqlType });
}

describe('a field that a list is sorted by', () => {
  test.each([
    ['string', 'text'],
    ['string', 'varchar(20)'],
    ['number', 'double precision'],
    ['number', 'smallint'],
  ] as const)('may be a %s in a column of the type %s', (kind, sqlType) => {
    expect(codecOf(kind, sqlType).accepts('1')).toBe(true);
  });

  test.each([
    ['string', 'uuid', 'uuid'],
    ['string', 'date', 'date'],
    ['string', 'citext', 'citext'],
    ['string', 'varbit', 'bit varying'],
    ['number', 'decimal', 'numeric'],
    ['json', 'jsonb', 'jsonb'],
  ] as const)('is refused if it is a %s in a column of the type %s', (kind, sqlType, shown) => {
    const refusal = `place cannot be sorted by: its column has the type ${shown}`;
    expect(() => codecOf(kind, sqlType)).toThrow(new ValidationError(refusal, { field: 'orderBy' }));
  });
});
