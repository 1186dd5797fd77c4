import type { FieldType } from '../../domain/descriptor.js';

/** The type of an enum's values in a column; `json` if the values have several types. */
export type EnumColumn = 'string' | 'number' | 'boolean' | 'json';

/** The column type of a field whose type has the kind `enum`. */
export function columnOfEnum(type: FieldType): EnumColumn {
  const values = type.kind === 'enum' ? type.values : [];
  const [kind, ...others] = new Set(values.map((value) => typeof value));
  if (others.length > 0) return 'json';
  return kind === 'number' || kind === 'boolean' ? kind : 'string';
}
