import { ValidationError } from '../errors.js';

/** A class with the name that JavaScript gives it. Minifiers shorten that name. */
interface NamedClass {
  readonly name: string;
}

const literals = new WeakMap<object, string>();
const assumed = new WeakMap<object, string>();
/** A class whose name is not the stored one, for messages: a minifier may have renamed the classes of this program. */
let renamed: string | undefined;

/**
 * Declares the name under which a class is stored. The name comes from a literal of a descriptor, so that it survives
 * a minifier.
 *
 * @throws ValidationError if the name is missing, or if the class has another stored name or was used under the name
 *   that a minifier gave it
 */
export function nameClass(target: NamedClass, literal: string): void {
  requireStoredName(literal, target);
  const known = literals.get(target) ?? assumed.get(target) ?? literal;
  if (known !== literal) {
    throw new ValidationError(
      `The class of ${literal} is already in use as ${known}, which may be the name of a minifier. ` +
        `Give the class one name, and use it only after its application, saga or repository is defined.`,
    );
  }
  literals.set(target, literal);
  if (target.name !== literal) renamed ??= `${target.name} is stored as ${literal}`;
}

/**
 * The name under which a class is stored. A class without a declared name, as in a unit test without an application,
 * has its own name; a later `nameClass` with another name is refused.
 *
 * @throws ValidationError if the class has no declared name in a program whose other classes have other names than the
 *   stored ones, as after a minifier
 */
export function storedName(target: NamedClass): string {
  const literal = literals.get(target);
  if (literal !== undefined) return literal;
  // Values in place of a class carry the stored name itself.
  if (typeof target !== 'function') return target.name;
  if (renamed !== undefined) {
    throw new ValidationError(
      `The class ${target.name} has no stored name, and the classes of this program have other names than the ` +
        `stored ones (${renamed}). ` +
        `Mark the class and run fw-gen generate, or define its repository or saga before its first use.`,
    );
  }
  assumed.set(target, target.name);
  return target.name;
}

/** @throws ValidationError if a descriptor has no name: code without types, or emitted by an earlier release */
export function requireStoredName(name: unknown, target: NamedClass): void {
  if (typeof name === 'string' && name !== '') return;
  throw new ValidationError(
    `The class ${target.name} has no stored name: run fw-gen generate, or give its descriptor a literal as name`,
  );
}
