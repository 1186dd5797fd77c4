const LIMIT = 2 ** 31;

/** Whether a value fits a column of type `integer`. */
export function isInteger32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value < LIMIT && value >= -LIMIT;
}
