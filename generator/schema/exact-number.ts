/** A decimal number as its text says it, never rounded: `digits` times ten to the power of `exponent`. */
export interface ExactNumber {
  /** No multiple of ten but 0. */
  readonly digits: bigint;
  readonly exponent: number;
}

/** Reads what `String` makes of a number as well: `1e+21`. undefined for anything else. */
export function exactNumber(text: string): ExactNumber | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`;
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return { digits: 0n, exponent: 0 };
  const zeros = digits.length - significant.length;
  return {
    digits: BigInt(`${sign}${significant}`),
    exponent: Number(exponent) - fraction.length + zeros,
  };
}

/** Negative if `a` is the smaller one, 0 if they are equal. */
export function compareExact(a: ExactNumber, b: ExactNumber): number {
  const exponent = Math.min(a.exponent, b.exponent);
  const difference = scaled(a, exponent) - scaled(b, exponent);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** True if the double that is nearest to this text is written as the same number. */
export function isKeptByDouble(text: string): boolean {
  const exact = exactNumber(text);
  const kept = exactNumber(String(Number(text)));
  return exact !== undefined && kept !== undefined && compareExact(exact, kept) === 0;
}

function scaled({ digits, exponent }: ExactNumber, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}
