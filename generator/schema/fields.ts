import type { ProjectSchema } from './project-schema.js';
import type { FieldSchema, TypeSchema } from './type-schema.js';

/** Every field that a project declares, once: of models, events, params and responses, nested ones included. */
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

/** A field and all fields below it. */
export function withNested(field: FieldSchema): readonly FieldSchema[] {
  const fields = new Set<FieldSchema>();
  addAll(fields, [field]);
  return [...fields];
}

/** The fields of a type that many declarations share are the same objects. */
function addAll(all: Set<FieldSchema>, fields: readonly FieldSchema[]): void {
  for (const field of fields) {
    if (all.has(field)) continue;
    all.add(field);
    for (const type of partsOf(field.type)) if (type.kind === 'object') addAll(all, type.fields);
  }
}

/** The type and all types that it consists of. An object contributes the types of its fields. */
export function partsOf(type: TypeSchema): readonly TypeSchema[] {
  const inner = directParts(type);
  return inner.length === 0 ? [type] : [type, ...inner.flatMap(partsOf)];
}

/** Items, values and members: what stands directly inside of a type that has no fields. */
export function directParts(type: TypeSchema): readonly TypeSchema[] {
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

const depths = new WeakMap<TypeSchema, number>();

/** Levels of objects, lists and records in one another. */
export function depthOf(type: TypeSchema): number {
  const known = depths.get(type);
  if (known !== undefined) return known;
  const inner = type.kind === 'object' ? type.fields.map((field) => field.type) : directParts(type);
  const depth = inner.reduce((deepest, each) => Math.max(deepest, 1 + depthOf(each)), 0);
  if (depth > 0) depths.set(type, depth);
  return depth;
}
