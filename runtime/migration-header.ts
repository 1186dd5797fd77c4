/**
 * The comments above a migration's first statement, by which it declares how it runs and what it depends on:
 *
 *     -- fw-gen: after 20260301090000_create_notes
 *     -- fw-gen: tables notes, "Odd name"
 *     -- fw-gen: no transaction
 *     -- fw-gen: replaces 9f86d081884c
 */
export interface MigrationHeader {
  readonly inTransaction: boolean;
  /** The last migration that existed when this one was written; '' for `first`; undefined: not declared. */
  readonly after?: string;
  /** Tables that it reads or changes, without their schemas; undefined: not declared, so it may touch any. */
  readonly tables?: readonly string[];
  /** Beginnings of the checksums of earlier texts, which some shards have applied instead of this one. */
  readonly replaces?: readonly string[];
  /** Text of the first comment `-- fw-gen:` that is none of these. */
  readonly unknown?: string;
}

/** Comments and blank lines before the first statement. */
const HEAD = /^(?:[^\S\n]*(?:--[^\n]*)?(?:\n|$))*/;
const DIRECTIVE = /^[^\S\n]*--[^\S\n]*fw-gen:[^\S\n]*([^\n]*?)[^\S\n]*$/gm;
const ORDER = /^[^\S\n]*--[^\S\n]*fw-gen:[^\S\n]*(?:after|first|tables|replaces)\b[^\n]*(?:\n|$)/gm;
const IDENTIFIER = /"(?:[^"]|"")+"|[^\s",.]+/;
const TABLE = new RegExp(`(?:(?:${IDENTIFIER.source})\\.)?(${IDENTIFIER.source})`, 'g');

/** Reads the header of a migration's SQL. */
export function readMigrationHeader(up: string): MigrationHeader {
  const head = HEAD.exec(up.replaceAll('\r', ''))?.[0] ?? '';
  let header: MigrationHeader = { inTransaction: true };
  for (const [, text = ''] of head.matchAll(DIRECTIVE))
    header = { ...header, ...(readDirective(text) ?? { unknown: header.unknown ?? text }) };
  return header;
}

/** Reads the text of a comment after `-- fw-gen:`. @returns undefined if it declares nothing known */
export function readDirective(text: string): Partial<MigrationHeader> | undefined {
  if (text === 'no transaction') return { inTransaction: false };
  if (text === 'first') return { after: '' };
  const [, word, rest = ''] = /^(after|tables)(?:\s+(.*))?$/.exec(text) ?? [];
  if (word === 'after' && /^\S+$/.test(rest)) return { after: rest };
  if (/^replaces(?:\s+[0-9a-f]{12,64})+$/.test(text)) return { replaces: text.split(/\s+/).slice(1) };
  return word === 'tables' ? { tables: readTables(rest) } : undefined;
}

/** The names in a comment `-- fw-gen: tables`, as PostgreSQL stores them. */
export function readTables(text: string): readonly string[] {
  return [...text.matchAll(TABLE)].map(([, name = '']) =>
    name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase(),
  );
}

/** Prints a list that `readTables` reads. */
export function printTables(tables: readonly string[]): string {
  return tables
    .map((name) => (/^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`))
    .join(', ');
}

/** The SQL without the comments on its order and on earlier texts, which may be corrected after it was applied. */
export function withoutOrder(up: string): string {
  const head = HEAD.exec(up)?.[0] ?? '';
  return head.replace(ORDER, '') + up.slice(head.length);
}

/** Tables that both touch; `unknown` if one of them does not declare its tables. */
export function sharedTables(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | 'unknown' {
  return a === undefined || b === undefined ? 'unknown' : a.filter((table) => b.includes(table));
}
