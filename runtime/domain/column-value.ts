import { Decimal } from 'decimal.js';
import type { ColumnDescriptor } from './descriptor.js';
import { isDocument } from './document-type.js';
import { Id } from './id.js';
import { isInteger32 } from './integer-32.js';
import { normalizeType } from './sql-type.js';
import { isUuid } from './uuid.js';

/**
 * Whether a value of unknown origin, such as a claim, can be compared with a column. Any value can be compared with a
 * document.
 */
export function isColumnValue({ type, sqlType }: ColumnDescriptor, value: unknown): boolean {
  if (isDocument(type)) return true;
  switch (type.kind) {
    case 'string':
    case 'currency':
      return typeof value === 'string';
    case 'number':
      return normalizeType(sqlType) === 'integer' ? isInteger32(value) : Number.isFinite(value);
    case 'bigint':
    case 'boolean':
      return typeof value === type.kind;
    case 'instant':
      return value instanceof Date && !Number.isNaN(value.getTime());
    case 'decimal':
      return Decimal.isDecimal(value);
    case 'uuid':
      return typeof value === 'string' && isUuid(value);
    case 'id':
      return value instanceof Id;
    case 'enum':
      return type.values.some((each) => each === value);
  }
}
