/** JSON's own grammar of numbers, without the sign. */
const NUMBER = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/**
 * Parses a JSON number as a double.
 *
 * @returns undefined if the double's own text would denote another decimal
 */
export function readDouble(text: string): number | undefined {
  const number = Number(text);
  const shown = String(number);
  if (shown === text) return number;
  if (!Number.isFinite(number) || decimalOf(shown) !== decimalOf(text)) return undefined;
  return number === 0 ? 0 : number;
}

/** Equal for texts of the same absolute value: significant digits and the power of ten. */
function decimalOf(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
