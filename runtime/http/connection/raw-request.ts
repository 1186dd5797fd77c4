const SPACE = 0x20;
const SLASH = 0x2f;
/** Longer methods and targets are left to the parser. */
const LONGEST_METHOD = 10;
const LONGEST_TARGET = 1_024;
/** A target in origin form, in the characters that Node's parser accepts. */
const ORIGIN_FORM = /^[!-~]+$/;

/**
 * The target of the request that begins with these bytes, read without a parser: `/wallets/1?x=y`. Undefined if the
 * target is incomplete or does not start with a slash; then the parser must read it.
 */
export function targetOf(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, LONGEST_METHOD + 1).indexOf(SPACE) + 1;
  if (start === 0 || bytes[start] !== SLASH) return undefined;
  const length = bytes.subarray(start, start + LONGEST_TARGET).indexOf(SPACE);
  if (length === -1) return undefined;
  const target = bytes.toString('latin1', start, start + length);
  return ORIGIN_FORM.test(target) ? target : undefined;
}

const BLANK_LINE = Buffer.from('\r\n\r\n');
/** Longer heads are left to the parser. */
const LONGEST_HEAD = 4_096;
/** A head that is unambiguous: HTTP/1.1, a method with an ordinary body, no folded lines, no unusual spaces. */
const PLAIN_HEAD =
  /^(?:GET|POST|PUT|PATCH|DELETE) \/[!-~]* HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+: [!-~](?:[ -~]*[!-~])?\r\n)+\r\n$/;
/** Headers that change the framing of a message, or whether its connection stays open. */
const FRAMING =
  /\r\n(?:(?:transfer-encoding|te|trailer|expect|upgrade|proxy-connection): |connection: (?!keep-alive\r))/i;
const LENGTHS = /\r\ncontent-length: ([^\r]*)/gi;

/** Whether these bytes are exactly one unambiguous request. The parser must read all other bytes. */
export function isOnePlainRequest(bytes: Buffer): boolean {
  const end = bytes.subarray(0, LONGEST_HEAD).indexOf(BLANK_LINE) + BLANK_LINE.length;
  if (end < BLANK_LINE.length) return false;
  const head = bytes.toString('latin1', 0, end);
  if (!PLAIN_HEAD.test(head) || FRAMING.test(head)) return false;
  const [length = '0', ...others] = [...head.matchAll(LENGTHS)].map(([, digits]) => digits);
  return others.length === 0 && /^\d{1,8}$/.test(length) && bytes.length === end + Number(length);
}
