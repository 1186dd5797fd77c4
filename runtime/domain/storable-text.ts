import { ValidationError } from '../errors.js';

/**
 * NUL, or half of a surrogate pair. PostgreSQL refuses the first late; the second has no UTF-8 form and would be
 * changed.
 */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** True if a database could not keep this text as it is. */
export function isUnstorable(text: string): boolean {
  return UNSTORABLE.test(text);
}

/** Longest text that is kept of an error, in characters. Errors quote what they are about, which may be of any size. */
const LONGEST_STORED = 4_000;

/** The text as a database can keep it: what cannot be stored is replaced, and the end of a long text is cut off. */
export function storedText(text: string, longest: number = LONGEST_STORED): string {
  const cut = text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
  return cut.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

/** The text itself. @throws ValidationError, naming the field, if a database could not keep it as it is */
export function storable(text: string, field: string): string {
  if (!UNSTORABLE.test(text)) return text;
  throw new ValidationError(`${field} holds a character that cannot be stored`, { field });
}
