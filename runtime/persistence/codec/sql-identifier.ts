/** Quotes an identifier of a table descriptor. A dot separates schema and name. */
export function quoteIdentifier(name: string): string {
  return name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.');
}

/**
 * The SQL type of a column's parameters, without its modifier: an explicit cast to `varchar(2)` silently truncates,
 * while the assignment to the column raises an error.
 */
export function parameterType(sqlType: string): string {
  const base = sqlType.replace(/\(.*?\)/, '').trim();
  return /^char(acter)?$/i.test(base) ? 'bpchar' : base;
}

/** The type of an array of such parameters. */
export function arrayType(sqlType: string): string {
  return `${parameterType(sqlType)}[]`;
}
