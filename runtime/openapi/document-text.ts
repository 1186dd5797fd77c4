import { stringify } from 'lossless-json';

/** Beyond, JavaScript shows integers with zeros in place of their last digits. */
const EXACT = 2 ** 53;

/**
 * The text of a document. Whole numbers are written with all their digits: `JSON.stringify` shows the bound 2^63 as
 * 9223372036854776000, which readers with longer numbers take for another one.
 *
 * @param indent spaces per level; default: all on one line
 */
export function documentText(document: object, indent?: number): string {
  const text = stringify(document, (_name, value) => (isLong(value) ? BigInt(value) : value), indent);
  return text ?? '';
}

function isLong(value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isInteger(value) && Math.abs(value) > EXACT && Math.abs(value) < 1e21
  );
}
