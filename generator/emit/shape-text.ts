import type { JsonValue } from '../../runtime/domain/json.js';
import { isShape, type Shape } from '../schema/locked-type.js';
import type { Imports } from './print/imports.js';
import { literal } from './print/literal.js';
import { memberName } from './print/strings.js';

/** View of one member of a type: `readonly name?: type`. */
export interface MemberView {
  /** In quotes if it is not an identifier; with a question mark if it is optional. */
  readonly name: string;
  readonly type: string;
}

/** Returns the members of a stored object, as `events.lock` contains its shape; undefined for another shape. */
export function shapeMembers(
  { properties, required, additionalProperties }: Shape,
  imports: Imports,
): readonly MemberView[] | undefined {
  if (isShape(additionalProperties) || !isShape(properties)) return undefined;
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.entries(properties).map(([name, field]) => ({
    name: `${memberName(name)}${isRequired(name) ? '' : '?'}`,
    type: shapeText(field, imports),
  }));
}

/** Returns the TypeScript type of JSON of a shape, on one line. */
export function shapeText(shape: JsonValue | undefined, imports: Imports): string {
  if (!isShape(shape)) return imports.runtimeType('JsonValue');
  const { type, enum: values } = shape;
  const names = Array.isArray(type) ? type : [type];
  const isNullable = names.includes('null');
  const [name] = names.filter((each) => each !== 'null');
  if (Array.isArray(values)) return values.map(literal).join(' | ');
  const text = plainText(name, shape, imports);
  return isNullable ? `${text} | null` : text;
}

function plainText(name: JsonValue | undefined, shape: Shape, imports: Imports): string {
  switch (name) {
    case 'string':
    case 'number':
    case 'boolean':
      return name;
    case 'array':
      return `ReadonlyArray<${shapeText(shape['items'], imports)}>`;
    case 'object':
      return objectText(shape, imports);
    default:
      return imports.runtimeType('JsonValue');
  }
}

function objectText(shape: Shape, imports: Imports): string {
  const { additionalProperties } = shape;
  if (isShape(additionalProperties))
    return `Readonly<Record<string, ${shapeText(additionalProperties, imports)}>>`;
  const members = shapeMembers(shape, imports) ?? [];
  if (members.length === 0) return 'Readonly<Record<never, never>>';
  return `{ ${members.map(({ name, type }) => `readonly ${name}: ${type}`).join('; ')} }`;
}
