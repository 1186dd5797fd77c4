import { expect, test } from 'vitest';
import { currencyCodes } from '../../runtime/domain/currency.js';
import { CURRENCY_CODES } from './currency-codes.js';

test('the generator knows the currencies of the runtime', () => {
  expect([...CURRENCY_CODES].sort()).toEqual(currencyCodes);
});
