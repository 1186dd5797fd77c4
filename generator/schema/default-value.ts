import { CURRENCY_CODES } from '../../runtime/currency-codes.js';
import { compareExact, type ExactNumber, exactNumber, isKeptByDouble } from './exact-number.js';
import type { JsonValue } from './json-value.js';
import type { TypeSchema } from './type-schema.js';
import type { NumericType, ValueRules } from './value-rules.js';

/** Parses a default as the server parses the field in a request. @returns undefined if the field refuses the value */
export function parseDefault(
  text: string,
  type: TypeSchema,
  rules: ValueRules,
  numeric: NumericType,
): JsonValue | undefined {
  switch (type.kind) {
    case 'string':
      return fitsText(text, rules) ? text : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'enum':
      return type.values.find((value) => String(value) === text);
    case 'currency':
      return CURRENCY_CODES.has(text) ? text : undefined;
    case 'number':
      return fitsNumber(text, rules) ? Number(text) : undefined;
    case 'bigint':
      return /^-?(0|[1-9]\d{0,18})$/.test(text) && isWithin(text, BIGINT) && isWithin(text, rules)
        ? text
        : undefined;
    case 'decimal':
      return fitsDecimal(text, rules, numeric) ? text : undefined;
    default:
      return undefined;
  }
}

/** Counts code points, as JSON Schema does. */
function fitsText(text: string, { minLength = 0, maxLength, pattern }: ValueRules): boolean {
  const { length } = Array.from(text);
  if (length < minLength || length > (maxLength ?? length)) return false;
  return pattern === undefined || new RegExp(pattern, 'u').test(text);
}

function fitsNumber(text: string, rules: ValueRules): boolean {
  if (!/^-?\d+(\.\d+)?$/.test(text) || !isKeptByDouble(text)) return false;
  return (rules.integer !== true || Number.isSafeInteger(Number(text))) && isWithin(text, rules);
}

/** Maximum characters of a decimal in a request. */
const LONGEST_DECIMAL = 100;

function fitsDecimal(text: string, rules: ValueRules, { precision, scale }: NumericType): boolean {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) || text.length > LONGEST_DECIMAL) return false;
  const { digits, exponent } = exactNumber(text) ?? ZERO;
  const length = digits === 0n ? 0 : String(digits).replace('-', '').length;
  return -exponent <= scale && length + exponent <= precision - scale && isWithin(text, rules);
}

type Bounds = Partial<
  Record<'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum', number | bigint>
>;

const BIGINT: Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n };

const ZERO: ExactNumber = { digits: 0n, exponent: 0 };

function isWithin(text: string, bounds: Bounds): boolean {
  const value = exactNumber(text);
  if (value === undefined) return false;
  const against = (bound: number | bigint | undefined): number | undefined => {
    const exact = bound === undefined ? undefined : exactNumber(String(bound));
    return exact === undefined ? undefined : compareExact(value, exact);
  };
  return (
    (against(bounds.minimum) ?? 0) >= 0 &&
    (against(bounds.maximum) ?? 0) <= 0 &&
    (against(bounds.exclusiveMinimum) ?? 1) > 0 &&
    (against(bounds.exclusiveMaximum) ?? -1) < 0
  );
}
