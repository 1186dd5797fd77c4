import { inspect } from 'node:util';
import { ValidationError } from '../errors.js';

/**
 * NUL or an unpaired surrogate. PostgreSQL refuses NUL only when it executes the statement; an unpaired surrogate has
 * no UTF-8 form and would be replaced.
 */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** True if a database cannot store this text unchanged. */
export function isUnstorable(text: string): boolean {
  return UNSTORABLE.test(text);
}

/** Maximum stored length of an error's text, in characters. Errors quote values of any size. */
const LONGEST_STORED = 4_000;

/** A storable form of an error's text, or of the object that a library has assigned to `message`; truncates a long one. */
export function storedText(value: unknown, longest: number = LONGEST_STORED): string {
  const text = typeof value === 'string' ? value : inspect(value, { customInspect: false });
  const cut = text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
  return cut.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

/** Returns the text unchanged. @throws ValidationError, naming the field, if a database cannot store it unchanged */
export function storable(text: string, field: string): string {
  if (!UNSTORABLE.test(text)) return text;
  throw new ValidationError(`${field} must not contain NUL or half of a surrogate pair`, { field });
}
