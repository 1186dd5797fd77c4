import { ValidationError } from '../errors.js';

/** A class with the name that JavaScript gives it. Minifiers shorten that name. */
interface NamedClass {
  readonly name: string;
}

const literals = new WeakMap<object, string>();
const assumed = new WeakMap<object, string>();

/**
 * Declares the name under which a class is stored. The name comes from a literal of a descriptor, so that it survives
 * a minifier.
 *
 * @throws ValidationError if the class has another stored name, or was used under the name that a minifier gave it
 */
export function nameClass(target: NamedClass, literal: string): void {
  const known = literals.get(target) ?? assumed.get(target) ?? literal;
  if (known !== literal) {
    throw new ValidationError(
      `The class of ${literal} is already in use as ${known}, which may be the name of a minifier. ` +
        `Give the class one name, and use it only after its application, saga or repository is defined.`,
    );
  }
  literals.set(target, literal);
}

/**
 * The name under which a class is stored. A class without a declared name, as in a unit test without an application,
 * has its own name; a later `nameClass` with another name is refused.
 */
export function storedName(target: NamedClass): string {
  const literal = literals.get(target);
  if (literal !== undefined) return literal;
  if (typeof target === 'function') assumed.set(target, target.name);
  return target.name;
}
