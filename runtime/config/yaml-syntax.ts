// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { type Document, type ParsedNode, parseDocument, type YAMLError } from 'yaml';
import type { Mistake, Problems } from './problems.js';

/** Maximum size of a file, in bytes (and of a text, in UTF-16 code units). */
export const MAXIMUM_SIZE = 1_048_576;
/** Maximum nesting of maps and lists. The deepest valid configuration has ten levels. */
export const MAXIMUM_DEPTH = 50;

export const TOO_DEEP: Mistake = {
  message: `maps and lists are nested more than ${MAXIMUM_DEPTH} levels deep`,
};

type Report = (offset: number, mistake: Mistake) => undefined;

/**
 * Reads a text as exactly one YAML 1.2 document.
 *
 * @returns the document's content, null if it is empty, or undefined if problems were reported
 */
export function readYamlDocument(text: string, problems: Problems): ParsedNode | null | undefined {
  const report: Report = (offset, mistake) => {
    problems.add({ path: '', offset }, mistake);
  };
  if (text.length > MAXIMUM_SIZE) return report(0, { message: 'the file is larger than 1 MiB' });
  if (/^\uFEFF?(?:[ \t]*(?:#.*)?\r?\n)*%/.test(text))
    return report(text.indexOf('%'), {
      message: 'YAML directives are not supported',
      hint: 'remove the line',
    });
  const document = parsed(text);
  if (document === undefined) return report(0, TOO_DEEP);
  const errors = [...document.errors, ...document.warnings];
  reportSyntaxErrors(text, errors, report);
  return errors.length === 0 ? document.contents : undefined;
}

/** Undefined if the text is nested so deeply that the parser's recursion fails. */
function parsed(text: string): Document.Parsed | undefined {
  const before = Error.stackTraceLimit;
  // The parser creates an `Error` per mistake, and 100,000 stack traces would take seconds.
  Error.stackTraceLimit = 0;
  try {
    return parseDocument(text, {
      schema: 'core',
      version: '1.2',
      strict: true,
      stringKeys: true,
      uniqueKeys: false, // compares every key with every other; the validator looks for duplicates itself
      resolveKnownTags: false,
      prettyErrors: false,
      logLevel: 'error',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** Reports one error per line; further errors on the same line follow from the first. */
function reportSyntaxErrors(text: string, errors: readonly YAMLError[], report: Report): void {
  let reportedUpTo = -1;
  for (const error of [...errors].sort((a, b) => a.pos[0] - b.pos[0])) {
    const offset = Math.min(error.pos[0], text.length);
    if (offset <= reportedUpTo) continue;
    const end = text.indexOf('\n', offset);
    reportedUpTo = end === -1 ? text.length : end;
    report(offset, syntaxMistake(error, text.slice(text.lastIndexOf('\n', offset - 1) + 1, reportedUpTo)));
  }
}

/** In place of the parser's messages that quote the text, which may be a password, or that use its own terms. */
const MESSAGES: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  UNEXPECTED_TOKEN: 'this is not valid YAML',
  BAD_SCALAR_START: 'a value cannot start with this character',
  BAD_DQ_ESCAPE: 'unknown escape sequence in double quotes',
  TAG_RESOLVE_FAILED: 'unknown YAML tag',
  MULTIPLE_DOCS: 'a second YAML document starts here',
  NON_STRING_KEY: 'a key must be plain text',
  KEY_OVER_1024_CHARS: 'a key is longer than 1,024 characters',
  MULTILINE_IMPLICIT_KEY: 'a key spans several lines',
  BLOCK_AS_IMPLICIT_KEY: 'found a key where a value is expected',
};

const HINTS: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  TAB_AS_INDENT: 'use spaces',
  BAD_SCALAR_START: 'put quotes around it',
  BAD_DQ_ESCAPE: 'in single quotes, a backslash is an ordinary character',
  TAG_RESOLVE_FAILED: 'put quotes around a value that starts with an exclamation mark',
  MULTIPLE_ANCHORS: 'put quotes around a value that starts with &',
  BLOCK_AS_IMPLICIT_KEY:
    'start it on a line of its own, or put quotes around a value that holds a colon and a space',
  KEY_OVER_1024_CHARS: 'is a colon or a quote missing?',
  MULTILINE_IMPLICIT_KEY: 'is a colon or a quote missing?',
  MULTIPLE_DOCS: 'a configuration is one document',
};

function syntaxMistake({ code, message: found }: YAMLError, line: string): Mistake {
  const message = MESSAGES[code] ?? found.charAt(0).toLowerCase() + found.slice(1);
  const isReference = HINTS[code] === undefined && line.includes('${');
  const hint = isReference ? 'inside { } and [ ], put quotes around a reference: "${NAME}"' : HINTS[code];
  return { message, hint };
}
