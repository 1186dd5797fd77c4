import { CURRENCY_CODES } from '../../runtime/currency-codes.js';
import { Decimal, type NumericType } from '../../runtime/domain/decimal.js';
import type { JsonValue } from '../../runtime/domain/json.js';
import { compileRules, type ValueRules } from '../../runtime/domain/value-rules.js';
import type { TypeSchema } from './type-schema.js';

/** A text is written without quotes: they would become part of it. */
const QUOTED = /^(["'`]).*\1$/s;

/** Parses a default as the server parses the field in a request. @returns undefined if the field refuses the value */
export function parseDefault(
  text: string,
  type: TypeSchema,
  rules: ValueRules,
  numeric: NumericType,
): JsonValue | undefined {
  const isBroken = (value: unknown): boolean => compileRules(rules)(value) !== undefined;
  switch (type.kind) {
    case 'string':
      return QUOTED.test(text) || isBroken(text) ? undefined : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'enum':
      return type.values.find((value) => String(value) === text);
    case 'currency':
      return CURRENCY_CODES.has(text) ? text : undefined;
    case 'number': {
      const value = parseDouble(text);
      const isUnsafe = rules.integer === true && !Number.isSafeInteger(value);
      return value === undefined || isUnsafe || isBroken(value) ? undefined : value;
    }
    case 'bigint':
      if (!/^-?(0|[1-9]\d{0,18})$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text))
        return undefined;
      return isBroken(BigInt(text)) ? undefined : text;
    case 'decimal':
      return fitsNumeric(text, numeric) && !isBroken(new Decimal(text)) ? text : undefined;
    default:
      return undefined;
  }
}

/** Parses a number. @returns undefined also for one that a double would round, because amounts are never rounded */
export function parseDouble(text: string): number | undefined {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return new Decimal(text).equals(new Decimal(value)) ? value : undefined;
}

/** Maximum characters of a decimal in a request. */
const LONGEST_DECIMAL = 100;

function fitsNumeric(text: string, { precision, scale }: NumericType): boolean {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) || text.length > LONGEST_DECIMAL) return false;
  const value = new Decimal(text);
  return value.decimalPlaces() <= scale && (value.isZero() || value.e < precision - scale);
}
