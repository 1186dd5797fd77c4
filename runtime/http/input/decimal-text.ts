import { Decimal, type NumericType } from '../../domain/decimal.js';
import { Refusal } from './refusal.js';

/** JSON's own grammar of numbers: sign, whole digits, fraction, exponent. */
const NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
const LONGEST_TEXT = 100;
const LONGEST_EXPONENT = 5;

/**
 * Parses a decimal exactly. Form, length and range are checked on the text, because the constructor of decimal.js
 * spends seconds on a huge exponent. Trailing zeros do not count as decimals; nothing is rounded.
 */
export function readDecimal(text: string, type: NumericType): Decimal | Refusal {
  if (text.length > LONGEST_TEXT) return new Refusal('has too many digits');
  const match = NUMBER.exec(text);
  if (match === null) return new Refusal('must be a decimal number like "10.25"');
  const [, , whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return new Decimal(0);
  if (exponent.length > LONGEST_EXPONENT) return outOfRange(type, exponent.startsWith('-'));
  const significant = digits.replace(/0+$/, '');
  // The value is `significant` times ten to the power of `shift`.
  const shift = Number(exponent) - fraction.length + digits.length - significant.length;
  if (-shift > type.scale) return outOfRange(type, true);
  if (significant.length + shift > type.precision - type.scale) return outOfRange(type, false);
  return new Decimal(text);
}

function outOfRange(type: NumericType, tooSmall: boolean): Refusal {
  return tooSmall
    ? new Refusal(`must have at most ${type.scale} decimals`)
    : new Refusal(`must have at most ${type.precision - type.scale} digits before the decimal point`);
}
