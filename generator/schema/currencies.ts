import { CURRENCY_CODES } from '../../runtime/currency-codes.js';

/** Codes that servers accept, sorted. */
export const CURRENCIES: readonly string[] = [...CURRENCY_CODES].sort();
