import { describe, expect, test } from 'vitest';
import { ValidationError } from '../errors.js';
import { currency, currencyCodes, isCurrency } from './currency.js';

describe('currency', () => {
  test.each(['EUR', 'MXN', 'USD', 'JPY', 'XAU', 'XXX'])('accepts %s', (code) => {
    expect(isCurrency(code)).toBe(true);
    expect(currency(code)).toBe(code);
  });

  test.each(['usd', 'Eur', '', 'EURO', 'EU', ' EUR', 'EUR\n', 'DEM', 'ZZZ', 'toString'])(
    'refuses %j',
    (code) => {
      expect(isCurrency(code)).toBe(false);
      expect(() => currency(code)).toThrow(ValidationError);
    },
  );

  test.each([null, undefined, 978, {}, ['EUR']])('holds %j for no currency', (code) => {
    expect(isCurrency(code)).toBe(false);
  });

  test('shows at most 16 characters of a refused text', () => {
    expect(() => currency('E'.repeat(1_000))).toThrow(`Not an ISO 4217 currency code: "${'E'.repeat(16)}"`);
  });

  test('lists its codes sorted, once each and frozen', () => {
    expect(currencyCodes).toEqual([...new Set(currencyCodes)].sort());
    expect(currencyCodes.every((code) => /^[A-Z]{3}$/.test(code))).toBe(true);
    expect(Object.isFrozen(currencyCodes)).toBe(true);
  });
});
