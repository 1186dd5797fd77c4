import { type ColumnSchema, columnsOf } from './columns.js';
import { modelNames } from './model-names.js';
import type { KeySchema, ModelSchema } from './project-schema.js';

/** The unique index of one natural key. */
export interface KeyIndex {
  readonly name: string;
  readonly fields: readonly string[];
  readonly columns: readonly string[];
  /** Column of the state, and the states that the index excludes. */
  readonly stateColumn: string;
  readonly deletedStates: readonly string[];
}

/** Maximum bytes of a PostgreSQL name. PostgreSQL truncates longer names silently. */
export const IDENTIFIER_BYTES = 63;

/** Returns the indexes of a model's keys. Unknown fields of a key are omitted. */
export function keyIndexes(model: ModelSchema): readonly KeyIndex[] {
  const { keys } = model;
  if (keys === undefined) return [];
  const columns = columnsOf(model);
  const stateColumn =
    columns.find(({ field, inherited }) => inherited && field.name === 'state')?.column ?? 'state';
  return keys.map((key) => {
    const own = columnsOfKey(key, columns).map(({ column }) => column);
    return {
      name: indexName(modelNames(model).table, own),
      fields: key.fields.map(({ value }) => value),
      columns: own,
      stateColumn,
      deletedStates: model.deletedStates.map(({ value }) => value),
    };
  });
}

/** Returns the columns of a key, in the order of its fields. */
export function columnsOfKey(
  { fields }: KeySchema,
  columns: readonly ColumnSchema[],
): readonly ColumnSchema[] {
  return fields.flatMap(
    ({ value }) => columns.find(({ field, inherited }) => !inherited && field.name === value) ?? [],
  );
}

/** PostgreSQL's own naming scheme: `guests_email_key`. */
function indexName(table: string, columns: readonly string[]): string {
  const base = `${table}_${columns.join('_')}`;
  if (Buffer.byteLength(`${base}_key`) <= IDENTIFIER_BYTES) return `${base}_key`;
  const hash = shortHash(base);
  let head = base;
  while (Buffer.byteLength(`${head}_${hash}_key`) > IDENTIFIER_BYTES) head = head.slice(0, -1);
  return `${head}_${hash}_key`;
}

/** FNV-1a, 32 bits. It distinguishes only the few long names of one database. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
