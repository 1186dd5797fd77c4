import { isUtf8 } from 'node:buffer';
import { parse } from 'lossless-json';
import { HttpProblem } from '../problem.js';
import { findJsonHazard } from './json-scanner.js';

/** Maximum length of a parser's message that is passed on: it may quote the input. */
const MESSAGE_LENGTH = 160;

/**
 * Parses a request body. Numbers become `LosslessNumber`s, which keep their own text. Refused are invalid UTF-8, a
 * byte order mark, duplicate keys, the key `__proto__` and deep nesting.
 *
 * @throws HttpProblem (400)
 */
export function parseJsonBytes(bytes: Buffer, maximumDepth: number): unknown {
  return parseJsonText(textOf(bytes), maximumDepth);
}

/** As `parseJsonBytes`, for text. */
export function parseJsonText(text: string, maximumDepth: number): unknown {
  return checked(text, maximumDepth, parse);
}

/** As `parseJsonBytes`, with numbers as JavaScript has them. */
export function parsePlainJson(bytes: Buffer, maximumDepth: number): unknown {
  return checked(textOf(bytes), maximumDepth, JSON.parse);
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new HttpProblem('HTTP_MALFORMED_BODY', 'The body is not valid UTF-8');
  return bytes.toString('utf8');
}

function checked(text: string, maximumDepth: number, parseText: (text: string) => unknown): unknown {
  const hazard = findJsonHazard(text, maximumDepth);
  if (hazard !== undefined) throw new HttpProblem('HTTP_MALFORMED_BODY', hazard);
  try {
    return parseText(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, MESSAGE_LENGTH) : 'not JSON';
    throw new HttpProblem('HTTP_MALFORMED_BODY', `Malformed JSON: ${reason}`, { cause: error });
  }
}
