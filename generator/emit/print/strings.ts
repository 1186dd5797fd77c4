/** Words that cannot name a binding in a strict module. */
const RESERVED_WORDS: ReadonlySet<string> = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
    'false finally for function if implements import in instanceof interface let new null package private protected ' +
    'public return static super switch this throw true try typeof var void while with yield undefined NaN Infinity'
  ).split(' '),
);

const IDENTIFIER = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

/** Characters that end lines, hide text or change its direction: always escaped in emitted code. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text that needs no escape. The test saves the slower replacements. */
const PLAIN = /^[\w .,:;/{}()@#+*=<>?!-]*$/;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Returns a string literal of any text: in single quotes unless double quotes need fewer escapes. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`);
  return `${mark}${escaped.replace(UNSAFE, escapeCharacter)}${mark}`;
}

/** Returns the body of a template literal of any text. */
export function templateText(text: string): string {
  return text
    .replace(/\\|`|\$\{/g, '\\$&')
    .replace(UNSAFE, (character) => (character === '\n' ? character : escapeCharacter(character)));
}

/** Whether a variable or parameter can have this name. */
export function isBindingName(name: string): boolean {
  return IDENTIFIER.test(name) && !isReservedWord(name);
}

/** Whether no variable or parameter can have this name, although it is an identifier. */
export function isReservedWord(name: string): boolean {
  return RESERVED_WORDS.has(name);
}

/** Returns the name of a class or interface member, in quotes if it is not an identifier. */
export function memberName(name: string): string {
  return IDENTIFIER.test(name) ? name : quote(name);
}

/** Returns text that neither ends a comment nor hides code behind it. */
export function commentText(text: string): string {
  return text.replaceAll('*/', '*\\/').replace(UNSAFE, (character) => (character === '\n' ? character : ''));
}

/** View of `partials/doc.hbs`: a documentation comment. */
export interface DocView {
  /** The lines of the comment, each with a leading space; empty for none. */
  readonly docLines: readonly string[];
}

/** Returns a documentation comment. Default: no comment. */
export function docView(text: string | undefined): DocView {
  const lines = text === undefined || text === '' ? [] : commentText(text).split('\n');
  return { docLines: lines.map((line) => ` ${line}`.trimEnd()) };
}

function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return SHORT_ESCAPES[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`);
}
