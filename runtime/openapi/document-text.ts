/** Above this, JavaScript writes integers with zeros instead of their last digits. */
const EXACT = 2 ** 53;
/** Above this, it writes them with an exponent. */
const WITH_EXPONENT = 1e21;
/** Marks the digits of a number in strings; documents contain no NUL. */
const MARKED = /"\\u0000(-?[0-9]+)"/g;

/**
 * The text of a document. Integers are written with all their digits: `JSON.stringify` writes the bound 2^63 as
 * 9223372036854776000, which readers with longer integers read as another number.
 *
 * @param indent spaces per level; default: all on one line
 */
export function documentText(document: object, indent?: number): string {
  const marked = JSON.stringify(
    document,
    (_name, value: unknown) => (isLong(value) ? `\0${BigInt(value)}` : value),
    indent,
  );
  return marked.replace(MARKED, '$1');
}

function isLong(value: unknown): value is number {
  const size = typeof value === 'number' && Number.isInteger(value) ? Math.abs(value) : 0;
  return size > EXACT && size < WITH_EXPONENT;
}
