import { isPlainObject } from '../domain/json.js';

interface Matcher {
  asymmetricMatch(value: unknown): boolean;
}

/**
 * What an argument of a call is compared with: a value, an asymmetric matcher as those of vitest and Jest
 * (`expect.any(String)`), or a predicate. An argument that is
 * itself a function is compared by identity.
 */
export type ExpectedArgument<Argument> =
  | Argument
  | { asymmetricMatch(value: unknown): boolean }
  | ([Argument] extends [(...args: never[]) => unknown] ? never : (argument: Argument) => boolean);

/**
 * @internal The expected call, with the found value in place of each matcher and predicate that accepts it: only what
 * was not accepted differs.
 */
export function matchedCall(expected: readonly unknown[], found: readonly unknown[] | undefined): unknown {
  return expected.map((each, index) => {
    if (found === undefined || index >= found.length) return each;
    const argument = found[index];
    const isPredicate = typeof each === 'function' && typeof argument !== 'function';
    return isPredicate && each(argument) === true ? argument : matched(each, argument);
  });
}

/** Matchers may be anywhere in arrays and in objects without a class. */
function matched(expected: unknown, found: unknown): unknown {
  if (isMatcher(expected)) return expected.asymmetricMatch(found) ? found : expected;
  if (Array.isArray(expected) && Array.isArray(found))
    return expected.map((each, index) => (index < found.length ? matched(each, found[index]) : each));
  if (!isPlainObject(expected) || !isPlainObject(found)) return expected;
  return Object.fromEntries(
    Object.entries(expected).map(([name, each]) => [name, matched(each, found[name])]),
  );
}

function isMatcher(value: unknown): value is Matcher {
  return (
    typeof value === 'object' &&
    value !== null &&
    'asymmetricMatch' in value &&
    typeof value.asymmetricMatch === 'function'
  );
}
