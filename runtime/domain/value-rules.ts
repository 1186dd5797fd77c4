import { Decimal } from './decimal.js';

/** Bounds of a number. They have at most 15 digits, so they are exact. */
interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** Rules that the comment of a field sets for each of its values. */
export interface ValueRules extends Bounds {
  /** Maximum characters (code points). */
  readonly maxLength?: number;
  /** Minimum characters (code points). */
  readonly minLength?: number;
  /** A regular expression with the flag `u` that must match a part of the text. */
  readonly pattern?: string;
  readonly integer?: true;
  /** Maximum items of a list. */
  readonly maxItems?: number;
  /** Minimum items of a list. */
  readonly minItems?: number;
}

/**
 * Checks a value. Returns the broken rule, to follow the value's name: `must be at least 1`; undefined if it is valid.
 */
export type RuleCheck = (value: unknown) => string | undefined;

/** Compares a value with a bound: negative, zero or positive. */
type CompareTo = (bound: number) => number;

/** Compiles rules, once for each field. Absent values (null, undefined) satisfy every rule. */
export function compileRules(rules: ValueRules): RuleCheck {
  const { pattern, integer } = rules;
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  return (value) => {
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string') {
      // A pattern may take quadratic time, so it never sees a text that is too long.
      const broken = brokenLength(rules, value);
      if (broken !== undefined) return broken;
      return expression?.test(value) === false ? `must match pattern "${pattern}"` : undefined;
    }
    if (Array.isArray(value)) return brokenCount(rules, value.length);
    if (integer === true && !Number.isInteger(value)) return 'must be an integer';
    const compareTo = comparison(value);
    return compareTo === undefined ? undefined : brokenBound(rules, compareTo);
  };
}

/** The first bound that a value exceeds. */
function brokenBound(rules: Bounds, compareTo: CompareTo): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = rules;
  if (minimum !== undefined && compareTo(minimum) < 0) return `must be at least ${minimum}`;
  if (maximum !== undefined && compareTo(maximum) > 0) return `must be at most ${maximum}`;
  if (exclusiveMinimum !== undefined && compareTo(exclusiveMinimum) <= 0) {
    return `must be greater than ${exclusiveMinimum}`;
  }
  if (exclusiveMaximum !== undefined && compareTo(exclusiveMaximum) >= 0) {
    return `must be less than ${exclusiveMaximum}`;
  }
  return undefined;
}

function brokenLength({ minLength = 0, maxLength }: ValueRules, text: string): string | undefined {
  if (maxLength !== undefined && isLonger(text, maxLength))
    return `must have at most ${maxLength} characters`;
  return minLength > 0 && !isLonger(text, minLength - 1)
    ? `must have at least ${minLength} ${minLength === 1 ? 'character' : 'characters'}`
    : undefined;
}

function brokenCount({ minItems = 0, maxItems }: ValueRules, count: number): string | undefined {
  if (maxItems !== undefined && count > maxItems) return `must have at most ${maxItems} items`;
  return count < minItems ? `must have at least ${minItems} items` : undefined;
}

/** Whether a text has more code points. A code point has one or two units, so most texts need not be read. */
function isLonger(text: string, most: number): boolean {
  if (text.length <= most || text.length > 2 * most) return text.length > most;
  let count = 0;
  for (const _ of text) count += 1;
  return count > most;
}

function comparison(value: unknown): CompareTo | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return (bound) => (value < bound ? -1 : value > bound ? 1 : 0);
  }
  // Not `instanceof`: another package may have loaded another copy of the class.
  return Decimal.isDecimal(value) ? (bound) => value.comparedTo(new Decimal(bound)) : undefined;
}
