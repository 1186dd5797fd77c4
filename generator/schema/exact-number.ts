/** A decimal number without rounding: `digits` times ten to the power of `exponent`. */
export interface ExactNumber {
  /** Not a multiple of ten, except 0. */
  readonly digits: bigint;
  readonly exponent: number;
}

/** Parses a decimal number, also in the notation of `String(number)`: `1e+21`. @returns undefined for any other text */
export function exactNumber(text: string): ExactNumber | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`;
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return { digits: 0n, exponent: 0 };
  const zeros = digits.length - significant.length;
  return { digits: BigInt(`${sign}${significant}`), exponent: Number(exponent) - fraction.length + zeros };
}

/** Returns a negative number if `a` is smaller, 0 if both are equal, else a positive one. */
export function compareExact(a: ExactNumber, b: ExactNumber): number {
  const exponent = Math.min(a.exponent, b.exponent);
  const difference = scaled(a, exponent) - scaled(b, exponent);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Whether the nearest double prints as the same number. */
export function isKeptByDouble(text: string): boolean {
  const exact = exactNumber(text);
  const kept = exactNumber(String(Number(text)));
  return exact !== undefined && kept !== undefined && compareExact(exact, kept) === 0;
}

function scaled({ digits, exponent }: ExactNumber, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}
