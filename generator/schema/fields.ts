import type { ProjectSchema } from './project-schema.js';
import type { FieldSchema, TypeSchema } from './type-schema.js';

/** Every field that a project declares: of models, events, params and responses, nested ones included. */
export function allFields({ models, events, actions }: ProjectSchema): readonly FieldSchema[] {
  const fields: FieldSchema[] = [];
  for (const model of models) addAll(fields, model.fields);
  for (const event of events) addAll(fields, event.fields);
  for (const { params, route } of actions) {
    addAll(fields, params);
    if (route?.response !== undefined) addAll(fields, route.response.fields);
  }
  return fields;
}

/** A field and all fields below it. */
export function withNested(field: FieldSchema): readonly FieldSchema[] {
  const fields: FieldSchema[] = [];
  addAll(fields, [field]);
  return fields;
}

function addAll(all: FieldSchema[], fields: readonly FieldSchema[]): void {
  for (const field of fields) {
    all.push(field);
    const type = innermost(field.type);
    if (type.kind === 'object') addAll(all, type.fields);
  }
}

/** The type at the bottom of lists of lists. */
export function innermost(type: TypeSchema): TypeSchema {
  return type.kind === 'list' ? innermost(type.of) : type;
}
