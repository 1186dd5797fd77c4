import type { ProjectSchema } from './project-schema.js';
import type { FieldSchema, TypeSchema } from './type-schema.js';

/** Every field that a project declares: of models, events, params and responses, nested ones included. */
export function allFields(schema: ProjectSchema): readonly FieldSchema[] {
  return [
    ...schema.models.flatMap((model) => model.fields),
    ...schema.events.flatMap((event) => event.fields),
    ...schema.actions.flatMap((action) => [...action.params, ...(action.route?.response?.fields ?? [])]),
  ].flatMap(withNested);
}

/** A field and all fields below it. */
export function withNested(field: FieldSchema): readonly FieldSchema[] {
  return [field, ...nestedFields(field.type).flatMap(withNested)];
}

function nestedFields(type: TypeSchema): readonly FieldSchema[] {
  if (type.kind === 'object') return type.fields;
  return type.kind === 'list' ? nestedFields(type.of) : [];
}

/** The type at the bottom of lists of lists. */
export function innermost(type: TypeSchema): TypeSchema {
  return type.kind === 'list' ? innermost(type.of) : type;
}
