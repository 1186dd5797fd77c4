/**
 * Converts a parameter of a query to what is sent: instants to ISO text, arrays to array literals,
 * plain objects to JSON, value objects (ids, decimals) to their text.
 */
export function toStatementValue(value: unknown): string | number | boolean | bigint | null {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
      return value;
    case 'object':
      return value === null ? null : fromObject(value);
    case 'undefined':
      return null;
    default:
      throw new TypeError(`A query parameter cannot be a ${typeof value}`);
  }
}

function fromObject(value: object): string {
  if (Array.isArray(value)) return arrayLiteral(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  // An object with its own `toString` is a value; any other object is JSON data.
  return value.toString === Object.prototype.toString ? JSON.stringify(value) : String(value);
}

function arrayLiteral(items: readonly unknown[]): string {
  return `{${items.map(arrayElement).join(',')}}`;
}

function arrayElement(item: unknown): string {
  if (Array.isArray(item)) return arrayLiteral(item);
  const value = toStatementValue(item);
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value ?? 'NULL');
}
