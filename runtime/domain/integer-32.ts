import type { ColumnDescriptor } from './descriptor.js';
import { normalizeType } from './sql-type.js';

const LIMIT = 2 ** 31;

/** Whether a value fits a column of type `integer`. */
export function isInteger32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value < LIMIT && value >= -LIMIT;
}

/** Whether a column holds numbers as integers of 32 bits. */
export function isIntegerColumn({ type, sqlType }: Pick<ColumnDescriptor, 'type' | 'sqlType'>): boolean {
  return type.kind === 'number' && normalizeType(sqlType) === 'integer';
}
