import { isDeepStrictEqual } from 'node:util';
import { compareText } from '../diagnostics.js';
import { isShape, type Shape } from '../schema/locked-type.js';
import type { JsonValue } from '../schema/project-schema.js';

/** One change that is incompatible with readers of the older shape, or with stored values. */
export interface BreakingChange {
  /** Field names from the payload down; empty for the payload itself. */
  readonly path: readonly string[];
  /** The change: `was removed`. */
  readonly what: string;
}

/**
 * The incompatible changes between two shapes. Both directions count: processes of the older release read values of the
 * newer one, and the newer one reads stored values. So all existing fields must stay unchanged, and new fields must be
 * optional.
 */
export function breakingChanges(before: Shape, after: Shape): readonly BreakingChange[] {
  return changesBetween(withoutNames(before), withoutNames(after), []);
}

/** The shape with the depth of each recursive type instead of its name, which is not stored. */
function withoutNames(shape: Shape, open: readonly string[] = []): Shape {
  const { $anchor, $ref } = shape;
  const inside = typeof $anchor === 'string' ? [...open, $anchor] : open;
  const inner = (value: JsonValue): JsonValue =>
    isShape(value) ? withoutNames(value, inside) : Array.isArray(value) ? value.map(inner) : value;
  return {
    ...Object.fromEntries(Object.entries(shape).map(([name, value]) => [name, inner(value)])),
    ...(typeof $anchor === 'string' ? { $anchor: String(open.length) } : {}),
    ...(typeof $ref === 'string' ? { $ref: String(open.lastIndexOf($ref.slice(1))) } : {}),
  };
}

function changesBetween(before: Shape, after: Shape, path: readonly string[]): readonly BreakingChange[] {
  const isObject = isShape(before['properties']) && isShape(after['properties']);
  if (isObject && isDeepStrictEqual(before['type'], after['type'])) return fieldChanges(before, after, path);
  if (!isDeepStrictEqual(withoutParts(before), withoutParts(after))) return [retyped(path, before, after)];
  const now = partsOf(after);
  const changes = partsOf(before).flatMap((part, index) => changesBetween(part, now[index] ?? {}, path));
  // A part without a name of its own is described with the whole.
  return changes.some((change) => change.path === path) ? [retyped(path, before, after)] : changes;
}

/** Members with the shapes of items and values, and of alternatives, whose order has no meaning. */
const ITEMS = ['items', 'prefixItems', 'additionalProperties'];
const ALTERNATIVES = ['oneOf', 'anyOf'];
const PARTS: ReadonlySet<string> = new Set([...ITEMS, ...ALTERNATIVES]);

function partsOf(shape: Shape): readonly Shape[] {
  const shapesIn = (names: readonly string[]): readonly Shape[] =>
    names.flatMap((name) => [shape[name]].flat()).filter(isShape);
  const byText = (a: Shape, b: Shape): number => compareText(describeShape(a), describeShape(b));
  return [...shapesIn(ITEMS), ...shapesIn(ALTERNATIVES).toSorted(byText)];
}

/** The shape with the number of parts instead of the parts. */
function withoutParts(shape: Shape): Shape {
  const members = Object.entries(shape).map(([name, value]): [string, JsonValue] => [
    name,
    PARTS.has(name) ? [value].flat().length : value,
  ]);
  return Object.fromEntries(members);
}

function fieldChanges(before: Shape, after: Shape, path: readonly string[]): readonly BreakingChange[] {
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  const changes: BreakingChange[] = [];
  for (const [name, shape] of Object.entries(old)) {
    const here = [...path, name];
    const found = now[name];
    if (found === undefined) {
      changes.push({ path: here, what: 'was removed' });
      continue;
    }
    const [wasRequired, isRequired] = [isRequiredIn(before, name), isRequiredIn(after, name)];
    if (wasRequired && !isRequired) changes.push({ path: here, what: 'is now optional' });
    if (!wasRequired && isRequired) changes.push({ path: here, what: 'was optional and is now required' });
    changes.push(...changesBetween(shape, found, here));
  }
  for (const name of Object.keys(now)) {
    if (old[name] !== undefined || !isRequiredIn(after, name)) continue;
    changes.push({ path: [...path, name], what: 'is new and required' });
  }
  return changes;
}

function retyped(path: readonly string[], before: Shape, after: Shape): BreakingChange {
  return { path, what: `was ${describeShape(before)} and is now ${describeShape(after)}` };
}

/** A short description of a type: `decimal`, `one of OPEN, CLOSED`, `list of string or null`, `[number, string?]`. */
function describeShape(shape: Shape): string {
  const { type, format, enum: values, items, model, prefixItems, minItems, additionalProperties } = shape;
  const [name, orNull] = Array.isArray(type) ? [type[0], ' or null'] : [type, ''];
  if (Array.isArray(values)) return `one of ${values.filter((each) => each !== null).join(', ')}${orNull}`;
  if (Array.isArray(prefixItems)) {
    const parts = prefixItems.filter(isShape).map(describeShape);
    const optional = parts.map((part, index) => (index < Number(minItems) ? part : `${part}?`));
    return `[${[...optional, ...(isShape(items) ? [`...${describeShape(items)}`] : [])].join(', ')}]${orNull}`;
  }
  const oneOf = shape['oneOf'] ?? shape['anyOf'];
  if (Array.isArray(oneOf)) return [...new Set(oneOf.filter(isShape).map(describeShape))].join(' or ');
  if (isShape(additionalProperties)) return `record of ${describeShape(additionalProperties)}${orNull}`;
  if (isShape(items)) return `list of ${describeShape(items)}${orNull}`;
  if (typeof model === 'string') return `id of ${model}${orNull}`;
  if (typeof format === 'string') return `${format}${orNull}`;
  for (const [field, { enum: only }] of Object.entries(propertiesOf(shape)))
    if (Array.isArray(only) && only.length === 1) return `object with ${field} ${String(only[0])}`;
  return typeof name === 'string' ? `${name}${orNull}` : 'any JSON';
}

function propertiesOf({ properties }: Shape): Readonly<Record<string, Shape>> {
  if (!isShape(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).filter((entry): entry is [string, Shape] => isShape(entry[1])),
  );
}

function isRequiredIn({ required }: Shape, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}
