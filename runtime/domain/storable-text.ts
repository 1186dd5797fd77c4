import { ValidationError } from '../errors.js';

/** NUL, or half of a surrogate pair. PostgreSQL refuses the first late; the second has no UTF-8 form and would be changed. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** True if a database could not keep this text as it is. */
export function isUnstorable(text: string): boolean {
  return UNSTORABLE.test(text);
}

/** The text itself. @throws ValidationError, naming the field, if a database could not keep it as it is */
export function storable(text: string, field: string): string {
  if (!UNSTORABLE.test(text)) return text;
  throw new ValidationError(`${field} holds a character that cannot be stored`, { field });
}
