import type { JsonValue } from '../schema/json-value.js';
import type { Shape } from '../schema/locked-type.js';
import type { Imports } from './print/imports.js';
import { memberName, quote } from './print/strings.js';

/**
 * Returns the TypeScript type of JSON of a shape, as `events.lock` contains it. @param indent of the line on which it
 * begins
 */
export function shapeText(shape: Shape, imports: Imports, indent = 0): string {
  const { type, enum: values } = shape;
  const names = Array.isArray(type) ? type : [type];
  const isNullable = names.includes('null');
  const [name] = names.filter((each) => each !== 'null');
  if (Array.isArray(values)) return values.map(literalText).join(' | ');
  const text = plainText(name, shape, imports, indent);
  return isNullable ? `${text} | null` : text;
}

function literalText(value: JsonValue): string {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

function plainText(name: JsonValue | undefined, shape: Shape, imports: Imports, indent: number): string {
  switch (name) {
    case 'string':
    case 'number':
    case 'boolean':
      return name;
    case 'array':
      return `ReadonlyArray<${itemText(shape['items'], imports, indent)}>`;
    case 'object':
      return objectText(shape, imports, indent);
    default:
      return imports.runtimeType('JsonValue');
  }
}

function itemText(items: JsonValue | undefined, imports: Imports, indent: number): string {
  return isShape(items) ? shapeText(items, imports, indent) : imports.runtimeType('JsonValue');
}

function objectText(
  { properties, required, additionalProperties }: Shape,
  imports: Imports,
  indent: number,
): string {
  if (isShape(additionalProperties))
    return `Readonly<Record<string, ${itemText(additionalProperties, imports, indent)}>>`;
  const fields = isShape(properties) ? Object.entries(properties) : [];
  if (fields.length === 0) return 'Readonly<Record<never, never>>';
  const margin = ' '.repeat(indent + 2);
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const lines = fields.map(([name, field]) => {
    const text = itemText(field, imports, indent + 2);
    return `${margin}readonly ${memberName(name)}${isRequired(name) ? '' : '?'}: ${text};\n`;
  });
  return `{\n${lines.join('')}${' '.repeat(indent)}}`;
}

function isShape(value: JsonValue | undefined): value is Shape {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
