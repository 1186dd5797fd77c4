import * as catalogue from './key-catalogue.js';
import { kebabCase } from './key-names.js';
import type { Key, NamedSections } from './keys.js';

/** One line of the key table. */
export interface KeyRow {
  /** In kebab-case, with `[]` for each entry of a list. */
  readonly path: string;
  readonly type: string;
  /** `required`, a default in code quotes, or `-`. */
  readonly default: string;
  readonly doc: string;
}

/** Every key of the file, in the order of the catalogue. The keys of a database are listed once. */
export function keyRows(): readonly KeyRow[] {
  return rowsOf(catalogue.fw, '', new Set());
}

/** The key table of the documentation, in Markdown. */
export function renderKeyTable(): string {
  const lines = keyRows().map((row) => `| \`${row.path}\` | ${row.type} | ${row.default} | ${row.doc} |`);
  return ['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...lines].join('\n');
}

function rowsOf(key: Key, parent: string, listed: Set<readonly Key[]>): KeyRow[] {
  const name = kebabCase(key.name);
  const path = parent === '' ? name : `${parent}.${name}`;
  const row: KeyRow = { path, type: typeOf(key), default: defaultOf(key), doc: key.doc };
  if (key.kind !== 'section' && key.kind !== 'list') return [row];
  const inner = key.kind === 'list' ? `${path}[]` : path;
  const named = key.kind === 'section' && key.named !== undefined ? [namedRow(key.named, path)] : [];
  if (listed.has(key.keys)) return [row];
  listed.add(key.keys);
  return [row, ...key.keys.flatMap((child) => rowsOf(child, inner, listed)), ...named];
}

function namedRow(named: NamedSections, parent: string): KeyRow {
  const path = `${parent}.<name>${kebabCase(named.suffix)}`;
  return { path, type: `section, at most ${named.maximum}`, default: '-', doc: named.doc };
}

function typeOf(key: Key): string {
  switch (key.kind) {
    case 'text':
      return `string, 1 to ${grouped(key.maximumLength)} characters`;
    case 'secret':
      return `secret string, 1 to ${grouped(key.maximumLength)} characters`;
    case 'integer':
      return `integer, ${grouped(key.minimum)} to ${grouped(key.maximum)}`;
    case 'boolean':
      return '`true` or `false`';
    case 'choice':
      return `one of ${words(key.choices)}`;
    case 'choices':
      return `list of ${words(key.choices)}`;
    case 'texts':
      return `list of strings, 1 to ${key.maximum}`;
    case 'list':
      return `list, ${key.minimum} to ${key.maximum} entries`;
    case 'folder':
      return key.target ?? 'folder';
    case 'jdbc-url':
      return 'JDBC URL';
    case 'section':
      return 'section';
  }
}

function defaultOf(key: Key): string {
  if (key.required === true) return 'required';
  if (key.kind === 'choices' || key.kind === 'texts') return 'none';
  const value = 'default' in key ? key.default : undefined;
  return value === undefined ? '-' : `\`${String(value)}\``;
}

function words(choices: readonly string[]): string {
  return choices.map((choice) => `\`${choice}\``).join(', ');
}

/** `10000` -> `10,000` */
function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
