import type { JsonValue } from '../schema/json-value.js';
import { isShape, type Shape } from '../schema/locked-type.js';
import type { FileScope } from './file-scope.js';
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
  scope: FileScope,
): readonly MemberView[] | undefined {
  if (isShape(additionalProperties) || !isShape(properties)) return undefined;
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.entries(properties).map(([name, field]) => ({
    name: `${memberName(name)}${isRequired(name) ? '' : '?'}`,
    type: shapeText(field, scope),
  }));
}

/** Returns the TypeScript type of JSON of a shape, on one line. */
export function shapeText(shape: JsonValue | undefined, scope: FileScope): string {
  if (!isShape(shape)) return scope.runtimeType('JsonValue');
  const { type, enum: values } = shape;
  const names = Array.isArray(type) ? type : [type];
  const isNullable = names.includes('null');
  const [name] = names.filter((each) => each !== 'null');
  if (Array.isArray(values)) return values.map(literal).join(' | ');
  const text = plainText(name, shape, scope);
  return isNullable ? `${text} | null` : text;
}

function plainText(name: JsonValue | undefined, shape: Shape, scope: FileScope): string {
  switch (name) {
    case 'string':
    case 'number':
    case 'boolean':
      return name;
    case 'array':
      return `ReadonlyArray<${shapeText(shape['items'], scope)}>`;
    case 'object':
      return objectText(shape, scope);
    default:
      return scope.runtimeType('JsonValue');
  }
}

function objectText(shape: Shape, scope: FileScope): string {
  const { additionalProperties } = shape;
  if (isShape(additionalProperties))
    return `Readonly<Record<string, ${shapeText(additionalProperties, scope)}>>`;
  const members = shapeMembers(shape, scope) ?? [];
  if (members.length === 0) return 'Readonly<Record<never, never>>';
  return `{ ${members.map(({ name, type }) => `readonly ${name}: ${type}`).join('; ')} }`;
}
