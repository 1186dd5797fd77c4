import { ValidationError } from '../errors.js';
import { isUnstorable } from './storable-text.js';

/** Who acts: an object with a name, or a function that returns one. */
export type Principal = { readonly name: string } | (() => string);

/** Characters of a name: what OpenID Connect allows a subject, and short enough for the index of idempotency keys. */
const LONGEST_NAME = 255;

/** The principal's name. @throws ValidationError unless it has 1 to 255 characters that can be stored */
export function principalName(principal: Principal): string {
  const name = typeof principal === 'function' ? principal() : principal?.name;
  if (typeof name !== 'string' || name.length === 0) {
    throw new ValidationError('A principal must have a name');
  }
  if (name.length > LONGEST_NAME) {
    throw new ValidationError(
      `A principal's name has at most ${LONGEST_NAME} characters, got ${name.length}`,
    );
  }
  if (isUnstorable(name)) {
    throw new ValidationError("A principal's name must not contain NUL or half of a surrogate pair");
  }
  return name;
}
