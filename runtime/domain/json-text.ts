import { ValidationError } from '../errors.js';

/**
 * A JSON value as text.
 *
 * @throws ValidationError, naming the field, if it is none, or holds a number that is not finite, for which JSON would
 * have null
 */
export function jsonText(value: unknown, field: string): string {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) throw new ValidationError(`${field} must be a JSON value`, { field });
  // Most documents hold no null at all, and need no second look.
  if (json.includes('null')) requireFinite(value, field);
  return json;
}

/** Without recursion: it must not run out of stack where writing did not. */
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
