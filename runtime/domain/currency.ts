import { CURRENCY_CODES } from '../currency-codes.js';
import { ValidationError } from '../errors.js';

/** An ISO 4217 currency code. Create one with `currency('EUR')`. */
export type Currency = string & { readonly [currencyBrand]: true };
declare const currencyBrand: unique symbol;

/** Every known code, sorted. */
export const currencyCodes: readonly string[] = Object.freeze([...CURRENCY_CODES]);

/** True for an active ISO 4217 code, in upper case. */
export function isCurrency(code: unknown): code is Currency {
  return typeof code === 'string' && CURRENCY_CODES.has(code);
}

/** Returns the code as a `Currency`. @throws ValidationError unless it is an active ISO 4217 code, in upper case */
export function currency(code: string): Currency {
  if (!isCurrency(code)) {
    throw new ValidationError(`Not an ISO 4217 currency code: ${JSON.stringify(String(code).slice(0, 16))}`);
  }
  return code;
}
