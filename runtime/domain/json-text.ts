import { ValidationError } from '../errors.js';

/** Maximum nesting of lists and objects. Databases parse them recursively, the embedded one with a small stack. */
const MAXIMUM_DEPTH = 1_000;

/**
 * A JSON value as text.
 *
 * @throws ValidationError, naming the field, if the value is not JSON, has more than 1,000 levels, or contains a number
 *   that is not finite, which JSON would write as null
 */
export function jsonText(value: unknown, field: string): string {
  const json = shallow(field, () => stringified(value, field));
  if (json === undefined) throw new ValidationError(`${field} must be a JSON value`, { field });
  // Most documents contain no null and need no check for numbers that JSON has written as null.
  if (json.includes('null')) requireFinite(value, field);
  return json;
}

/** Writes a value as JSON text. @throws ValidationError, naming the field, if it has more than 1,000 levels */
export function shallow<Text extends string | undefined>(field: string, write: () => Text): Text {
  try {
    const json = write();
    // Each level takes two characters.
    if (json !== undefined && json.length > 2 * MAXIMUM_DEPTH && depthOf(json) > MAXIMUM_DEPTH)
      throw tooDeep(field);
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

/** Not recursive, so that it cannot run out of stack where `JSON.stringify` did not. */
function requireFinite(value: unknown, field: string): void {
  const pending: object[] = [[value]];
  for (const each of pending) {
    const items: readonly unknown[] = Array.isArray(each) ? each : Object.values(each);
    for (const item of items) {
      if (typeof item === 'object' && item !== null) pending.push(item);
      else if (typeof item === 'number' && !Number.isFinite(item)) {
        throw new ValidationError(`${field} must hold finite numbers`, { field });
      }
    }
  }
}
