import { contentHash } from '../../content-hash.js';
import { IDENTIFIER_BYTES } from '../../schema/key-indexes.js';

/** Words that PostgreSQL, or a function in PL/pgSQL, accepts as a table or column name only in quotes. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization between binary both case cast check collate ' +
    'collation column concurrently constraint create cross current_catalog current_date current_role current_schema ' +
    'current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for ' +
    'foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral ' +
    'leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps ' +
    'placing primary references returning right select session_user similar some symmetric system_user table ' +
    'tablesample then to trailing true union unique user using variadic verbose when where window with ' +
    'begin by declare execute foreach if loop strict while'
  ).split(' '),
);

/** Returns a name as SQL spells it, in quotes if it needs them. */
export function sqlName(name: string): string {
  const isPlain = /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Returns a value as an SQL literal. */
export function sqlLiteral(value: string | number | boolean): string {
  return typeof value !== 'string' ? String(value) : `'${value.replaceAll("'", "''")}'`;
}

/** Returns a name, or a hash behind a prefix if it is longer than 63 bytes, to which PostgreSQL truncates names. */
export function shortName(name: string, prefix: string): string {
  return Buffer.byteLength(name) <= IDENTIFIER_BYTES ? name : `${prefix}_${contentHash(name).slice(0, 32)}`;
}
