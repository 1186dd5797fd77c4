import { Decimal as DecimalJs } from 'decimal.js';

/**
 * Exact decimal numbers: decimal.js with 100 significant digits. Texts are always in plain notation, and exponents are
 * limited, so that no input takes seconds to compute. The class of decimal.js itself is not changed.
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

/** PostgreSQL's `numeric(precision, scale)`: `precision` digits in total, `scale` of them after the decimal point. */
export interface NumericType {
  readonly precision: number;
  readonly scale: number;
}

/** Plain notation without exponent, trailing zeros or a signed zero. Payloads, params and HTTP use this form. */
export function plainDecimal(value: Decimal): string {
  return value.toFixed();
}
