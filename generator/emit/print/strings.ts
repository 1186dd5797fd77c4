/** Words that no binding in a strict module can have as its name. */
const RESERVED_WORDS: ReadonlySet<string> = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
    'false finally for function if implements import in instanceof interface let new null package private protected ' +
    'public return static super switch this throw true try typeof var void while with yield undefined NaN Infinity'
  ).split(' '),
);

const IDENTIFIER = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

/** Characters that end lines, hide text or change its direction: never left raw in emitted code. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Fast test for text that needs no escape. */
const PLAIN = /^[\w .,:;/{}()@#+*=<>?!-]*$/;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A string literal, inert whatever the text holds; in single quotes unless others need fewer escapes. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`);
  return `${mark}${escaped.replace(UNSAFE, escapeCharacter)}${mark}`;
}

/** The body of a template literal, inert whatever the text holds. */
export function templateText(text: string): string {
  return text
    .replace(/\\|`|\$\{/g, '\\$&')
    .replace(UNSAFE, (character) => (character === '\n' ? character : escapeCharacter(character)));
}

/** True if a variable or parameter can be called so. */
export function isBindingName(name: string): boolean {
  return IDENTIFIER.test(name) && !RESERVED_WORDS.has(name);
}

/** A member of a class, interface or type: as it is, or quoted where it is no identifier. */
export function memberName(name: string): string {
  return IDENTIFIER.test(name) ? name : quote(name);
}

/** Text that can be put into a comment without ending the comment or hiding code. */
export function commentText(text: string): string {
  return text.replaceAll('*/', '*\\/').replace(UNSAFE, (character) => (character === '\n' ? character : ''));
}

/** A documentation comment, on one line if it is short, indented but for its first line. */
export function docComment(text: string, indent = 0): string {
  const lines = commentText(text).split('\n');
  if (lines.length === 1 && indent + text.length <= 100) return `/** ${lines[0]} */`;
  const margin = ' '.repeat(indent);
  return ['/**', ...lines.map((line) => `${margin} * ${line}`.trimEnd()), `${margin} */`].join('\n');
}

function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return SHORT_ESCAPES[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`);
}
