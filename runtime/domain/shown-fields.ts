import type { FieldDescriptor, FieldType, ItemDescriptor } from './descriptor.js';

/** The fields that may be stored and shown with an action: without secret ones, also inside of their types. */
export function withoutSecrets(fields: readonly FieldDescriptor[]): readonly FieldDescriptor[] {
  return fields
    .filter(({ secret }) => secret !== true)
    .map((field) => ({ ...field, type: shownType(field.type) }));
}

function shownType(type: FieldType): FieldType {
  switch (type.kind) {
    case 'object':
      return { ...type, fields: withoutSecrets(type.fields) };
    case 'list':
    case 'record':
    case 'recursive':
      return { ...type, of: shownType(type.of) };
    case 'tuple':
      return {
        ...type,
        items: type.items.map(shownItem),
        ...(type.rest === undefined ? {} : { rest: shownItem(type.rest) }),
      };
    case 'union':
      return { ...type, of: type.of.map(shownType) };
    default:
      return type;
  }
}

function shownItem(item: ItemDescriptor): ItemDescriptor {
  return { ...item, type: shownType(item.type) };
}
