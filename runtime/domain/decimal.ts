import { Decimal as DecimalJs } from 'decimal.js';

/**
 * Exact decimal numbers: decimal.js with 100 significant digits, text always in plain notation and exponents
 * bounded, so that no input makes it compute for seconds. `decimal.js`'s own class stays as it is.
 */
export const Decimal: typeof DecimalJs = DecimalJs.clone({
  precision: 100,
  toExpNeg: -9e15,
  toExpPos: 9e15,
  maxE: 1_000,
  minE: -1_000,
});
/** An exact decimal number. */
export type Decimal = DecimalJs;

/** `numeric(precision, scale)` as PostgreSQL means it: `precision` digits in all, `scale` of them after the point. */
export interface NumericType {
  readonly precision: number;
  readonly scale: number;
}

/**
 * Plain notation without an exponent, without trailing zeros, zero without a sign: the form that payloads, params and
 * HTTP use.
 */
export function plainDecimal(value: Decimal): string {
  return value.toFixed();
}
