import type { FieldType } from '../../domain/descriptor.js';

/** What the values of an enum are in a column; `json` for a mixture. */
export type EnumColumn = 'string' | 'number' | 'boolean' | 'json';

/** What a column holds whose field has a type of kind `enum`. */
export function columnOfEnum(type: FieldType): EnumColumn {
  const values = type.kind === 'enum' ? type.values : [];
  const [kind, ...others] = new Set(values.map((value) => typeof value));
  if (others.length > 0) return 'json';
  return kind === 'number' || kind === 'boolean' ? kind : 'string';
}
