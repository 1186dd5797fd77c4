import type { ProjectSchema } from './project-schema.js';
import type { FieldSchema, TypeSchema } from './type-schema.js';

/** Returns each field of models, events, params and responses once, including nested fields. */
export function allFields({ models, events, actions }: ProjectSchema): Iterable<FieldSchema> {
  const fields = new Set<FieldSchema>();
  for (const model of models) addAll(fields, model.fields);
  for (const event of events) addAll(fields, event.fields);
  for (const { params, route } of actions) {
    addAll(fields, params);
    if (route?.response !== undefined) addAll(fields, route.response.fields);
  }
  return fields;
}

/** Returns a field and all fields nested in it. */
export function withNested(field: FieldSchema): readonly FieldSchema[] {
  const fields = new Set<FieldSchema>();
  addAll(fields, [field]);
  return [...fields];
}

/** Declarations that share a type share the objects of its fields. */
function addAll(all: Set<FieldSchema>, fields: readonly FieldSchema[]): void {
  for (const field of fields) {
    if (all.has(field)) continue;
    all.add(field);
    for (const type of partsOf(field.type)) if (type.kind === 'object') addAll(all, type.fields);
  }
}

/**
 * Returns the type and the types that it consists of. The result includes objects, but not the types of their fields.
 */
export function partsOf(type: TypeSchema): readonly TypeSchema[] {
  const inner = directParts(type);
  return inner.length === 0 ? [type] : [type, ...inner.flatMap(partsOf)];
}

/** Returns items, values and members: the types directly inside a type that has no fields. */
function directParts(type: TypeSchema): readonly TypeSchema[] {
  switch (type.kind) {
    case 'list':
    case 'record':
    case 'recursive':
      return [type.of];
    case 'union':
      return type.of;
    case 'tuple':
      return [...type.items, ...(type.rest === undefined ? [] : [type.rest])].map((item) => item.type);
    default:
      return NO_PARTS;
  }
}

const NO_PARTS: readonly TypeSchema[] = [];

/** Returns the types directly inside a type, including those of the fields of an object. */
export function innerTypes(type: TypeSchema): readonly TypeSchema[] {
  return type.kind === 'object' ? type.fields.map((field) => field.type) : directParts(type);
}

const depths = new WeakMap<TypeSchema, number>();

/** Nesting depth of objects, lists and records. */
export function depthOf(type: TypeSchema): number {
  const known = depths.get(type);
  if (known !== undefined) return known;
  const depth = innerTypes(type).reduce((deepest, each) => Math.max(deepest, 1 + depthOf(each)), 0);
  if (depth > 0) depths.set(type, depth);
  return depth;
}
