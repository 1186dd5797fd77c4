import type { ColumnDescriptor } from './descriptor.js';
import { isInteger32, isIntegerColumn } from './integer-32.js';
import { kindOf } from './kinds/kinds.js';

/**
 * Whether a value of unknown origin, such as a claim, can be compared with a column. Any value can be compared with a
 * document.
 */
export function isColumnValue(column: ColumnDescriptor, value: unknown): boolean {
  if (isIntegerColumn(column)) return isInteger32(value);
  return kindOf(column.type).isValue?.(value, column.type) ?? true;
}
