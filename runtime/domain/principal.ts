import { ValidationError } from '../errors.js';
import { isUnstorable } from './storable-text.js';

/** Who acts: an object with a name, or a function that returns one. */
export type Principal = { readonly name: string } | (() => string);

/** The principal's name. @throws ValidationError if there is none, or it could not be stored */
export function principalName(principal: Principal): string {
  const name = typeof principal === 'function' ? principal() : principal?.name;
  if (typeof name !== 'string' || name.length === 0) {
    throw new ValidationError('A principal must have a name');
  }
  if (isUnstorable(name)) {
    throw new ValidationError("A principal's name must not contain NUL or half of a surrogate pair");
  }
  return name;
}
