import type { ModelDescriptor } from '../../domain/entity.js';

const keys = new WeakMap<ModelDescriptor, string>();
const keysByText = new Map<string, string>();

/**
 * Identifies the parts of a model that a statement's text contains: the table, and the columns with their types. Models
 * with the same name may differ in them.
 */
export function tableKey(model: ModelDescriptor): string {
  const known = keys.get(model);
  if (known !== undefined) return known;
  const columns = model.columns.map(({ field, column, sqlType }) => [field, column, sqlType]);
  const text = JSON.stringify([model.table, columns]);
  const key = keysByText.get(text) ?? `${model.name}${keysByText.size}`;
  keysByText.set(text, key);
  keys.set(model, key);
  return key;
}
