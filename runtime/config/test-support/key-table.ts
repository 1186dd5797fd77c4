import { fw } from '../catalogue.js';
import type { Key } from '../key.js';
import { kebabCase } from '../key-names.js';

/** One line of the key table. */
export interface KeyRow {
  /** In kebab-case, with `[]` for each entry of a list. */
  readonly path: string;
  readonly type: string;
  /** `required`, a default in code quotes, or `-`. */
  readonly default: string;
  readonly doc: string;
  /** Whether it is one of the keys that are listed first. */
  readonly main: boolean;
}

/** Every key of the file, in the order of the catalogue. The keys of a database are listed once. */
export function keyRows(): readonly KeyRow[] {
  return rowsOf('fw', { ...fw, required: true }, new Set());
}

/** A key table of the documentation, in Markdown. @param main the keys that are listed first, or all others */
export function renderKeyTable(main: boolean): string {
  const lines = keyRows()
    .filter((row) => row.main === main)
    .map((row) => `| \`${row.path}\` | ${row.type} | ${row.default} | ${row.doc} |`);
  return ['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...lines].join('\n');
}

function rowsOf(path: string, key: Key<unknown>, definitions: Set<string>): KeyRow[] {
  const { type, doc, shape, main = false } = key;
  const row: KeyRow = { path, type, default: defaultOf(key), doc, main };
  if (shape === undefined) return [row];
  if (shape.definition !== undefined && definitions.has(shape.definition)) return [row];
  if (shape.definition !== undefined) definitions.add(shape.definition);
  const inner = shape.isList === true ? `${path}[]` : path;
  const children = Object.entries(shape.keys).flatMap(([name, child]) =>
    rowsOf(`${inner}.${kebabCase(name)}`, child, definitions),
  );
  if (shape.named === undefined) return [row, ...children];
  const { suffix, maximum, key: named } = shape.named;
  const namedRow = { path: `${path}.<name>${kebabCase(suffix)}`, type: `section, at most ${maximum}` };
  return [row, ...children, { ...namedRow, default: '-', doc: named.doc, main: false }];
}

function defaultOf({ required, default: value }: Key<unknown>): string {
  if (required === true) return 'required';
  if (value === undefined) return '-';
  return Array.isArray(value) ? 'none' : `\`${String(value)}\``;
}
