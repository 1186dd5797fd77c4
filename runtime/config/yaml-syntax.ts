// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser, type YAMLError } from 'yaml';
import type { Mistake, Problems } from './problems.js';

/** Maximum size of a file, in bytes (and of a text, in UTF-16 code units). */
export const MAXIMUM_SIZE = 1_048_576;
/** Maximum nesting of maps and lists. The deepest valid configuration has ten levels. */
const MAXIMUM_DEPTH = 50;
/** Maximum lexical tokens, including white space. A shard has about seventy. */
const MAXIMUM_LEXEMES = 300_000;

/**
 * Reads a text as exactly one YAML 1.2 document. Limits are checked during tokenization, before the tree is built,
 * because building the tree recurses.
 *
 * @returns the document's content, null if it is empty, or undefined if problems were reported
 */
export function readYamlDocument(text: string, problems: Problems): ParsedNode | null | undefined {
  const report = (offset: number, mistake: Mistake): undefined => {
    problems.add({ path: '', offset }, mistake);
  };
  if (text.length > MAXIMUM_SIZE) return report(0, { message: 'the file is larger than 1 MiB' });
  const tokens = readTokens(text, report);
  if (tokens === undefined || !checkStream(tokens, report)) return undefined;
  const document = withoutStackTraces(() => composeDocument(tokens, text.length));
  if (document === undefined) return null;
  const errors = [...document.errors, ...document.warnings];
  reportSyntaxErrors(text, errors, report);
  return errors.length === 0 ? document.contents : undefined;
}

type Report = (offset: number, mistake: Mistake) => undefined;

function composeDocument(tokens: readonly CST.Token[], end: number): Document.Parsed | undefined {
  const composer = new Composer({
    schema: 'core',
    version: '1.2',
    strict: true,
    stringKeys: true,
    uniqueKeys: false, // compares every key with every other; the validator looks for duplicates itself
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: 'error',
  });
  const [document] = composer.compose(tokens, true, end);
  return document;
}

/**
 * Runs a function without stack traces in errors: the parser creates an `Error` per mistake, and 100,000 stack traces
 * would take seconds.
 */
function withoutStackTraces<Result>(run: () => Result): Result {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = before;
  }
}

function readTokens(text: string, report: Report): readonly CST.Token[] | undefined {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    lexemes += 1;
    // Besides the open maps and lists, the stack holds the document and a scalar.
    if (parser.stack.length > MAXIMUM_DEPTH + 2) {
      return report(parser.offset - lexeme.length, {
        message: `maps and lists are nested more than ${MAXIMUM_DEPTH} levels deep`,
      });
    }
    if (lexemes > MAXIMUM_LEXEMES) {
      return report(parser.offset - lexeme.length, { message: 'the file has too many keys and values' });
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function checkStream(tokens: readonly CST.Token[], report: Report): boolean {
  const directive = tokens.find((token) => token.type === 'directive');
  if (directive !== undefined) {
    report(directive.offset, { message: 'YAML directives are not supported', hint: 'remove the line' });
  }
  const second = tokens.filter((token) => token.type === 'document')[1];
  if (second !== undefined) {
    report(second.offset, {
      message: 'a second YAML document starts here',
      hint: 'a configuration is one document',
    });
  }
  return directive === undefined && second === undefined;
}

/** Reports one error per line; further errors on the same line follow from the first. */
function reportSyntaxErrors(text: string, errors: readonly YAMLError[], report: Report): void {
  let reportedUpTo = -1;
  for (const error of [...errors].sort((a, b) => a.pos[0] - b.pos[0])) {
    const offset = Math.min(error.pos[0], text.length);
    if (offset <= reportedUpTo) continue;
    report(offset, syntaxMistake(error.code, lineAround(text, offset)));
    const lineEnd = text.indexOf('\n', offset);
    reportedUpTo = lineEnd === -1 ? text.length : lineEnd;
  }
}

function lineAround(text: string, offset: number): string {
  const end = text.indexOf('\n', offset);
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, end === -1 ? text.length : end);
}

const ANCHORS: Mistake = {
  message: 'wrong use of an anchor, alias or tag',
  hint: 'put quotes around a value that starts with &, * or !',
};
const LONG_KEY: Mistake = {
  message: 'a key is too long or spans several lines',
  hint: 'is a colon or a quote missing?',
};

/** Messages of our own, because the parser's messages quote the text, which may be a password. */
const MISTAKES: Readonly<Partial<Record<YAMLError['code'], Mistake>>> = {
  TAB_AS_INDENT: { message: 'a tab is used for indentation', hint: 'use spaces' },
  TAG_RESOLVE_FAILED: {
    message: 'unknown YAML tag',
    hint: 'put quotes around a value that starts with an exclamation mark',
  },
  BAD_DQ_ESCAPE: {
    message: 'unknown escape sequence in double quotes',
    hint: 'in single quotes, a backslash is an ordinary character',
  },
  NON_STRING_KEY: { message: 'a key must be plain text' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'found a key where a value is expected',
    hint: 'start it on a line of its own, or put quotes around a value that holds a colon and a space',
  },
  MULTILINE_IMPLICIT_KEY: LONG_KEY,
  KEY_OVER_1024_CHARS: LONG_KEY,
  ...{ BAD_ALIAS: ANCHORS, ALIAS_PROPS: ANCHORS, BAD_PROP_ORDER: ANCHORS },
  ...{ MULTIPLE_ANCHORS: ANCHORS, MULTIPLE_TAGS: ANCHORS },
};

/** Mistakes that a reference without quotes causes inside `{ }` and `[ ]`. */
const OF_REFERENCES: Readonly<Partial<Record<YAMLError['code'], Mistake>>> = {
  BAD_SCALAR_START: { message: 'a value cannot start with this character', hint: 'put quotes around it' },
  MISSING_CHAR: {
    message: 'something is missing here: a colon after a key, a closing quote or a closing bracket',
  },
  BAD_INDENT: { message: 'wrong indentation' },
};

function syntaxMistake(code: YAMLError['code'], line: string): Mistake {
  const known = MISTAKES[code];
  if (known !== undefined) return known;
  const mistake = OF_REFERENCES[code] ?? { message: 'this is not valid YAML' };
  if (!line.includes('${')) return mistake;
  return { ...mistake, hint: 'inside { } and [ ], put quotes around a reference: "${NAME}"' };
}
