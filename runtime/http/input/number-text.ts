import { Decimal, type NumericType } from '../../domain/decimal.js';
import { Refusal } from './refusal.js';

/** JSON's own grammar of numbers: sign, whole digits, fraction, exponent. */
const NUMBER = /^-?(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
const LONGEST_DECIMAL = 100;

/** An absolute value: the significant digits, none for zero, times ten to the power of `shift`. */
interface Digits {
  readonly significant: string;
  readonly shift: number;
}

/** Undefined for a text that is not a JSON number. */
function digitsOf(text: string): Digits | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return { significant, shift: 0 };
  return { significant, shift: Number(exponent) - fraction.length + digits.length - significant.length };
}

/** Whether a text is a number in JSON. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text);
}

/** Parses a JSON number as a double. Undefined if the double's own text would denote another decimal. */
export function readDouble(text: string): number | undefined {
  const number = Number(text);
  const shown = String(number);
  if (shown === text) return number;
  const [given, read] = [digitsOf(text), digitsOf(shown)];
  if (read === undefined || given?.significant !== read.significant || given.shift !== read.shift)
    return undefined;
  return number === 0 ? 0 : number;
}

/**
 * Parses a decimal exactly. Form, length and range are checked on the text, because the constructor of decimal.js
 * spends seconds on a huge exponent. Nothing is rounded.
 *
 * @param isString whether it must match the pattern in the API document: no exponent, and trailing zeros are decimals.
 * A JSON number is only compared with bounds there
 */
export function readDecimal(
  text: string,
  { precision, scale }: NumericType,
  isString: boolean,
): Decimal | Refusal {
  if (text.length > LONGEST_DECIMAL) return new Refusal('has too many digits');
  const digits = digitsOf(text);
  if (digits === undefined) return new Refusal('must be a decimal number like "10.25"');
  if (isString && /e/i.test(text)) return new Refusal('must be written without an exponent, like "10.25"');
  const { significant, shift } = digits;
  const decimals = isString ? (text.split('.')[1] ?? '').length : -shift;
  if (decimals > scale) return new Refusal(`must have at most ${scale} decimals`);
  if (significant === '') return new Decimal(0);
  const whole = precision - scale;
  return significant.length + shift > whole
    ? new Refusal(`must have at most ${whole} digits before the decimal point`)
    : new Decimal(text);
}
