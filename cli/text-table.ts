import { oneLine } from './terminal-text.js';

/** What a cell shows. Undefined: nothing. */
type Cell = string | number | Date | { toString(): string } | undefined;

/** Rows, one line each, in columns of the necessary width under their headings; no line without rows. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
): readonly string[] {
  if (rows.length === 0) return [];
  const headings = Object.keys(columns);
  const cells = rows.map((row) => Object.values(columns).map((cellOf) => oneLine(textOf(cellOf(row)))));
  const lines = [headings, ...cells];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Lines of names and values, without undefined ones. */
export function factLines(facts: Readonly<Record<string, Cell>>, mark = ''): readonly string[] {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  const width = Math.max(...known.map(([name]) => name.length)) + mark.length + 2;
  return known.map(([name, value]) => `${`${name}${mark}`.padEnd(width)}${textOf(value)}`.trimEnd());
}

function textOf(value: Cell): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '');
}
