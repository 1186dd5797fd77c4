import { Decimal as PlainDecimalJs } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal, plainDecimal } from './decimal.js';

describe('Decimal', () => {
  test.each([
    ['1e2', '100'],
    ['1e-7', '0.0000001'],
    ['150.5000', '150.5'],
    ['-0', '0'],
    ['0.000', '0'],
    ['-12.30', '-12.3'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
  ])('writes %s as %s', (text, plain) => {
    expect(plainDecimal(new Decimal(text))).toBe(plain);
  });

  test('never prints an exponent', () => {
    expect(String(new Decimal('1e60'))).toBe(`1${'0'.repeat(60)}`);
    expect(JSON.stringify(new Decimal('1e-30'))).toBe(`"0.${'0'.repeat(29)}1"`);
  });

  test('adds and subtracts column values without losing a digit', () => {
    const cents = fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n });
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        const sum = new Decimal(`${a}e-4`).plus(new Decimal(`${b}e-4`));
        expect(plainDecimal(sum.times(10_000))).toBe(String(a + b));
      }),
    );
  });

  test('reads back what it writes', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }),
        fc.integer({ min: 0, max: 40 }),
        (digits, scale) => {
          const value = new Decimal(`${digits}e-${scale}`);
          const text = plainDecimal(value);
          expect(text).toMatch(/^(0|-?(0|[1-9]\d*)(\.\d*[1-9])?)$/);
          expect(new Decimal(text).equals(value)).toBe(true);
        },
      ),
    );
  });

  test.each(['1e9000000000000', '-1e9000000000000', '1e-9000000000000', '1e1001'])(
    'is done with %s at once',
    (text) => {
      const started = performance.now();
      const value = new Decimal(text);
      plainDecimal(value);
      value.plus(1).times(3).toString();
      expect(performance.now() - started).toBeLessThan(5_000);
    },
  );

  test('does not change the settings of decimal.js', () => {
    expect(PlainDecimalJs).not.toBe(Decimal);
    expect(PlainDecimalJs.precision).toBe(20);
  });
});
