/** An identifier of a table descriptor, quoted; a dot separates schema and name. */
export function quoteIdentifier(name: string): string {
  return name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.');
}

/**
 * The type that parameters of a column have: without a modifier, because an explicit cast to `varchar(2)` cuts silently
 * where the assignment to the column refuses.
 */
export function parameterType(sqlType: string): string {
  const base = sqlType.replace(/\(.*?\)/, '').trim();
  return /^char(acter)?$/i.test(base) ? 'bpchar' : base;
}

/** The type of an array of such parameters. */
export function arrayType(sqlType: string): string {
  return `${parameterType(sqlType)}[]`;
}
