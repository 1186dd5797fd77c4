const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Keys seen so far in one open object; `undefined` stands for an open array. */
type OpenContainer = Set<string> | undefined;

/**
 * Finds hazards that JSON parsers accept: a key that occurs twice in one object (also escaped, also with an equal
 * value), the key `__proto__`, and nesting deeper than `maximumDepth`. One pass, no recursion. The text need not be
 * valid JSON; the parser runs afterwards.
 *
 * @returns a description of the hazard, or `undefined`
 */
export function findJsonHazard(text: string, maximumDepth: number): string | undefined {
  const open: OpenContainer[] = [];
  let keys: OpenContainer;
  let keyExpected = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (keyExpected && keys !== undefined) {
          const hazard = addKey(keys, text.slice(at, end + 1));
          if (hazard !== undefined) return hazard;
          keyExpected = false;
        }
        at = end;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (open.length === maximumDepth) return `Nested more than ${maximumDepth} levels deep`;
        keyExpected = text.charCodeAt(at) === OPEN_BRACE;
        keys = keyExpected ? new Set() : undefined;
        open.push(keys);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        keys = open.at(-1);
        keyExpected = false;
        break;
      case COMMA:
        keyExpected = keys !== undefined;
        break;
      default:
    }
  }
  return undefined;
}

/** Position of the closing quote, or of the end of a text that has none. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    at += code === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

function addKey(keys: Set<string>, quoted: string): string | undefined {
  const key = quoted.includes('\\') ? unescapeKey(quoted) : quoted.slice(1, -1);
  if (key === '__proto__') return 'The key "__proto__" is not allowed';
  if (keys.has(key)) return `Duplicate key ${JSON.stringify(key.slice(0, 64))}`;
  keys.add(key);
  return undefined;
}

function unescapeKey(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
