import type { FieldType } from './descriptor.js';

/** Names of the enclosing recursive types that a type refers to: its meaning depends on them. */
export function referencesAround(type: FieldType): ReadonlySet<string> {
  switch (type.kind) {
    case 'again':
      return new Set([type.name]);
    case 'recursive':
      return new Set([...referencesAround(type.of)].filter((name) => name !== type.name));
    case 'list':
    case 'record':
      return referencesAround(type.of);
    case 'union':
      return referencesIn(type.of);
    case 'tuple':
      return referencesIn(
        [...type.items, ...(type.rest === undefined ? [] : [type.rest])].map((item) => item.type),
      );
    case 'object':
      return referencesIn(type.fields.map((field) => field.type));
    default:
      return NONE;
  }
}

const NONE: ReadonlySet<string> = new Set();

function referencesIn(types: readonly FieldType[]): ReadonlySet<string> {
  return new Set(types.flatMap((type) => [...referencesAround(type)]));
}
