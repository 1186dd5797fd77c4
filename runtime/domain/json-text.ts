import { ValidationError } from '../errors.js';
import { isPlainObject } from './json.js';

/** Maximum nesting of lists and objects. Databases parse them recursively, the embedded one with a small stack. */
const MAXIMUM_DEPTH = 1_000;
/** Types of items for which JSON has null. */
const WRITTEN_AS_NULL: ReadonlySet<string> = new Set(['undefined', 'function', 'symbol']);
/** Tags of objects that JSON writes with their content. */
const WRITTEN: ReadonlySet<string> = new Set(
  ['Object', 'String', 'Number', 'Boolean'].map((tag) => `[object ${tag}]`),
);

/**
 * A JSON value as text.
 *
 * @throws ValidationError, naming the field, if the value is not JSON or has more than 1,000 levels, and with the path
 *   of a part that JSON would write as null or without its content: NaN, a missing item, a Map
 */
export function jsonText(value: unknown, field: string): string {
  return shallow(field, () => {
    const json = stringified(value, field);
    if (json === undefined) throw new ValidationError(`${field} must be a JSON value`, { field });
    const mistake = mistakeIn(value);
    if (mistake !== undefined) throw new ValidationError(`${field}${mistake}`, { field });
    return json;
  });
}

/** Writes a value as JSON text. @throws ValidationError, naming the field, if it has more than 1,000 levels */
export function shallow(field: string, write: () => string): string {
  try {
    const json = write();
    // Each level takes two characters.
    if (json.length > 2 * MAXIMUM_DEPTH && depthOf(json) > MAXIMUM_DEPTH) throw tooDeep(field);
    return json;
  } catch (error) {
    // Of the stack of the writer.
    throw error instanceof RangeError ? tooDeep(field) : error;
  }
}

function stringified(value: unknown, field: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    if (cause instanceof RangeError) throw cause;
    throw new ValidationError(`${field} must be a JSON value`, { field, cause });
  }
}

function tooDeep(field: string): ValidationError {
  return new ValidationError(`${field} has more than ${MAXIMUM_DEPTH} levels`, { field });
}

/** Nesting depth of JSON text. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  let isQuoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    if (isQuoted && character === '\\') at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}

/**
 * The first part that JSON would not hold, as its path and what it must be. The value is one that `JSON.stringify` has
 * written, which therefore does not contain itself.
 */
function mistakeIn(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : ' must be a finite number';
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined;
  const isList = Array.isArray(value);
  // `[object Map]`: an instance of a class of the application has the tag of an object.
  if (!isList && !isPlainObject(value) && !WRITTEN.has(Object.prototype.toString.call(value)))
    return ` must be a JSON value, not a ${value.constructor.name}`;
  // Not the keys of a list, which leave holes out.
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const item = (value as Readonly<Record<string | number, unknown>>)[key];
    const mistake = isList && WRITTEN_AS_NULL.has(typeof item) ? ' must be a JSON value' : mistakeIn(item);
    if (mistake !== undefined) return `${isList ? `[${key}]` : `.${key}`}${mistake}`;
  }
  return undefined;
}
