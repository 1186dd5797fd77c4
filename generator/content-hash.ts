import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/**
 * The hash of a source's text, whatever line ends and byte order mark a checkout gave it: what is read from it hangs on
 * nothing else. What hashes is loaded when it is first needed: most runs compare nothing but the states of files.
 */
export function contentHash(text: string): string {
  return exactHash(plainText(text));
}

/** The hash of a text as it is: for files that are to be just so, line ends included. */
export function exactHash(text: string): string {
  const { hash }: typeof Crypto = load('node:crypto');
  return hash('sha256', text, 'base64url');
}

/** The text with LF line ends and without a byte order mark. */
export function plainText(text: string): string {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return body.includes('\r') ? body.replace(/\r\n?/g, '\n') : body;
}
