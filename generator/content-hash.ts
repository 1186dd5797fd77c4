import { hash } from 'node:crypto';

/** The hash of a text in hexadecimal digits, independent of its line ends and byte order mark. */
export function contentHash(text: string): string {
  return hash('sha256', plainText(text), 'hex');
}

/** The text with LF line ends and without a byte order mark. */
export function plainText(text: string): string {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return body.includes('\r') ? body.replace(/\r\n?/g, '\n') : body;
}
