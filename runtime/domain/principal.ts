import { ValidationError } from '../errors.js';
import { isUnstorable } from './storable-text.js';

/** Who acts: an object with a name, or a function that returns one. */
export type Principal = { readonly name: string } | (() => string);

/** Characters of a name: what OpenID Connect allows a subject, and short enough for the index of idempotency keys. */
const LONGEST_NAME = 255;

/** How names begin that the runtime gives itself. A caller with such a name would pass for a part of the runtime. */
const OWN = 'fw:';

/** A principal whose name is not checked: the runtime has made it up, or has read it where it was stored. */
class KnownPrincipal {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
    Object.freeze(this);
  }
}

/** A part of the runtime as a principal: `fw:handler:Mailer` for `handler:Mailer`. No caller can have its name. */
export function ownPrincipal(part: string): { readonly name: string } {
  return new KnownPrincipal(`${OWN}${part}`);
}

/** The principal of an earlier execution, by its stored name, which may be the runtime's own. */
export function storedPrincipal(name: string): { readonly name: string } {
  return new KnownPrincipal(name);
}

/**
 * The principal's name.
 *
 * @throws ValidationError unless it has 1 to 255 characters that can be stored, and does not begin with `fw:`
 */
export function principalName(principal: Principal): string {
  const name = typeof principal === 'function' ? principal() : principal?.name;
  if (typeof name !== 'string' || name.length === 0) {
    throw new ValidationError('A principal must have a name');
  }
  if (principal instanceof KnownPrincipal) return name;
  if (name.length > LONGEST_NAME) {
    throw new ValidationError(
      `A principal's name has at most ${LONGEST_NAME} characters, got ${name.length}`,
    );
  }
  if (name.startsWith(OWN)) {
    throw new ValidationError(
      `A principal's name must not begin with ${OWN}: such names are the runtime's own`,
    );
  }
  if (isUnstorable(name)) {
    throw new ValidationError("A principal's name must not contain NUL or half of a surrogate pair");
  }
  return name;
}
