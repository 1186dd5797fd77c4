/** A JSON part of the document. Undefined members are ignored. */
export type Json = null | boolean | number | string | readonly Json[] | JsonPart;

/** An object of the document. */
export interface JsonPart {
  readonly [key: string]: Json | undefined;
}

/** Adds null to the values that a schema with a `type` allows. */
function allowNull(schema: JsonPart): JsonPart {
  const { type, enum: values } = schema;
  const types = Array.isArray(type) ? type : type === undefined ? undefined : [type];
  return {
    ...schema,
    ...(types === undefined ? {} : { type: [...types, 'null'] }),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}

/** Orders names by their code units, independent of the locale. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Names come from the sources: `__proto__` must become an own property. */
export function membersOf(entries: Iterable<readonly [name: string, value: Json]>): JsonPart {
  return Object.fromEntries(entries);
}

/** Adds null. A schema without a type already allows it or is one of several. */
export function orNull(schema: JsonPart): JsonPart {
  if ('type' in schema || 'enum' in schema) return allowNull(schema);
  return '$ref' in schema || 'oneOf' in schema ? { anyOf: [schema, { type: 'null' }] } : schema;
}
