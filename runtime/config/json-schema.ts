import type { ConfigSchema, Key, Shape } from './key.js';
import { kebabCase } from './key-names.js';

/** The schema of a section. Shapes that occur in several places are definitions. */
export function sectionSchema(shape: Shape): ConfigSchema {
  return shape.definition === undefined ? mapSchema(shape) : { $ref: `#/$defs/${shape.definition}` };
}

/** The definitions of a shape and of all shapes below it. */
export function definitionsOf(shape: Shape): Readonly<Record<string, ConfigSchema>> {
  const keys = [...Object.values(shape.keys), ...(shape.named === undefined ? [] : [shape.named.key])];
  const below = keys.flatMap((key) =>
    key.shape === undefined ? [] : Object.entries(definitionsOf(key.shape)),
  );
  return Object.fromEntries(
    shape.definition === undefined ? below : [...below, [shape.definition, mapSchema(shape)]],
  );
}

/** A map whose keys have two spellings; each file may use either. */
function mapSchema({ keys, named }: Shape): ConfigSchema {
  const entries = Object.entries(keys);
  const properties = entries.flatMap(([name, key]) =>
    spellings(name).map((spelling) => [spelling, keySchema(key)] as const),
  );
  const required = entries.filter(([, key]) => key.required === true).map(([name]) => requiredSchema(name));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(named && { patternProperties: { [namedPattern(named.suffix)]: keySchema(named.key) } }),
    ...(required.length === 0 ? {} : { allOf: required }),
    additionalProperties: false,
  };
}

function keySchema({ doc, default: fallback, schema }: Key<unknown>): ConfigSchema {
  const shown = fallback === undefined || Array.isArray(fallback) ? {} : { default: fallback };
  return { description: doc, ...shown, ...schema };
}

function namedPattern(suffix: string): string {
  return `(${kebabCase(suffix)}|[a-z0-9]${suffix})$`;
}

function requiredSchema(name: string): ConfigSchema {
  const choices = spellings(name).map((spelling) => ({ required: [spelling] }));
  return choices.length === 1 ? { ...choices[0] } : { anyOf: choices };
}

function spellings(name: string): readonly string[] {
  return [...new Set([kebabCase(name), name])];
}
