/** A column of a result: its SQL, and how its value is read. */
export interface Column<T> {
  readonly sql: string;
  readonly read: (value: unknown) => T;
}

/** The columns of a query by the fields that they become. */
export type Columns<T> = { readonly [Name in keyof T]: Column<T[Name]> };

export function text(sql: string): Column<string> {
  return { sql, read: String };
}

export function numeric(sql: string): Column<number> {
  return { sql, read: Number };
}

export function flag(sql: string): Column<boolean> {
  return { sql, read: (value) => value === true };
}

/** Milliseconds since an instant; 0 if there is none. */
export function ageMs(instant: string): Column<number> {
  const sql = `extract(epoch FROM clock_timestamp() - ${instant}) * 1000`;
  return { sql, read: (value) => Math.max(0, Number(value)) };
}

/** A value as the driver reads it: JSON, an instant, or a text of few values that the table checks. */
export function raw<T>(sql: string): Column<T> {
  return { sql, read: (value) => value as T };
}

/** A column that may be null. */
export function optional<T>({ sql, read }: Column<T>): Column<T | undefined> {
  return { sql, read: (value) => (value === null ? undefined : read(value)) };
}

/** The expressions of a SELECT list, in the order in which `read` expects their values. */
export function list(columns: Readonly<Record<string, Column<unknown>>>): string {
  return Object.values(columns)
    .map(({ sql }) => sql)
    .join(', ');
}

/** The fields of a row that begins with these columns. */
export function read<T>(columns: Columns<T>, row: readonly unknown[]): T {
  const entries = Object.entries<Column<unknown>>(columns);
  // The fields of the result are those of `columns`.
  return Object.fromEntries(entries.map(([name, { read }], index) => [name, read(row[index])])) as T;
}
