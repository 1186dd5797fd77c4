import type { FieldType } from './descriptor.js';
import { partsOf } from './kinds/kinds.js';

/** Names of the enclosing recursive types that a type refers to: its meaning depends on them. */
export function referencesAround(type: FieldType): ReadonlySet<string> {
  if (type.kind === 'again') return new Set([type.name]);
  const names = new Set(partsOf(type).flatMap((part) => [...referencesAround(part)]));
  if (type.kind === 'recursive') names.delete(type.name);
  return names;
}
