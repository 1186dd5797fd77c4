import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/**
 * The hash of a source's text, independent of its line ends and byte order mark, on which no result depends. The hash
 * function is loaded on demand, because most runs compare only the states of files.
 */
export function contentHash(text: string): string {
  return exactHash(plainText(text));
}

/** The hash of a text without normalization, for files whose line ends matter. */
export function exactHash(text: string): string {
  const { hash }: typeof Crypto = load('node:crypto');
  return hash('sha256', text, 'base64url');
}

/** The text with LF line ends and without a byte order mark. */
export function plainText(text: string): string {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return body.includes('\r') ? body.replace(/\r\n?/g, '\n') : body;
}
