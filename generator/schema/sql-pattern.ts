/**
 * Converts a JavaScript regular expression (flag `u`) to a PostgreSQL one that matches the same texts.
 *
 * @returns undefined for constructs that PostgreSQL lacks or interprets differently: look-arounds, references, `\b`,
 *   `\s`, `\p`, lazy quantifiers, named groups
 */
export function sqlPattern(pattern: string): string | undefined {
  let sql = '';
  let rest = pattern;
  while (rest !== '') {
    const token = TOKEN.exec(rest)?.[0];
    const text = token === undefined ? undefined : translate(token);
    if (token === undefined || text === undefined) return undefined;
    sql += text;
    rest = rest.slice(token.length);
  }
  return sql;
}

/** A class in brackets, an escape, a quantifier, the start of a group, or one character. */
const TOKEN = /^(?:\[(?:\\.|[^\]\\])*\]|\\u[0-9a-fA-F]{4}|\\.|\{\d+(?:,\d*)?\}\??|[*+?]\??|\(\?.|[\s\S])/u;

function translate(token: string): string | undefined {
  const [first] = token;
  if (first === '[') return bracket(token);
  if (first === '\\') return ESCAPES.get(token) ?? plainEscape(token);
  if (/^[*+?{].*\?$/.test(token) && token.length > 1) return undefined;
  if (first === '{')
    return (token.match(/\d+/g) ?? []).every((count) => Number(count) <= 255) ? token : undefined;
  if (first === '(') return token === '(' || token === '(?:' ? token : undefined;
  return token === '.' ? NOT_LINE_END : token;
}

const NOT_LINE_END = '[^\\n\\r\\u2028\\u2029]';

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\d', '[0-9]'],
  ['\\D', '[^0-9]'],
  ['\\w', '[A-Za-z0-9_]'],
  ['\\W', '[^A-Za-z0-9_]'],
]);

const IN_BRACKET: ReadonlyMap<string, string> = new Map([
  ['\\d', '0-9'],
  ['\\w', 'A-Za-z0-9_'],
]);

/** Returns an escape with the same meaning in both; undefined for any other. */
function plainEscape(token: string): string | undefined {
  return /^\\(?:[\^$\\.*+?()[\]{}|/-]|[nrt]|u[0-9a-fA-F]{4})$/.test(token) ? token : undefined;
}

function bracket(token: string): string | undefined {
  const [, not = '', content = ''] = /^\[(\^?)(.*)\]$/su.exec(token) ?? [];
  // An empty class matches nothing, or everything if negated. PostgreSQL has no equivalent.
  if (content === '') return undefined;
  let sql = '';
  for (const [part] of content.matchAll(/\\u[0-9a-fA-F]{4}|\\.|[\s\S]/gu)) {
    const text = part.startsWith('\\')
      ? (IN_BRACKET.get(part) ?? plainEscape(part))
      : part === '['
        ? '\\['
        : part;
    if (text === undefined) return undefined;
    sql += text;
  }
  return `[${not}${sql}]`;
}
