import { createHash } from 'node:crypto';
import { HttpProblem } from './problem.js';

/** A strong entity tag: `"12"`. */
export function entityTag(version: unknown): string {
  return `"${String(version)}"`;
}

/** A strong entity tag of a text without a version: 20 characters of its SHA-256. */
export function contentTag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 20)}"`;
}

const LIST =
  /^\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*(?:,\s*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*)?)*$/;
const TAG = /(W\/)?"([^"]*)"/g;
const VERSION = /^[1-9][0-9]{0,15}$/;

/**
 * Parses `If-Match`. Weak tags never match (RFC 9110, 13.1.1), and neither do tags that are not versions.
 *
 * @returns the accepted versions; `undefined` for `*`, which accepts any version
 * @throws HttpProblem (400) if it is not a list of tags
 */
export function readIfMatch(header: string): readonly number[] | undefined {
  if (header.trim() === '*') return undefined;
  return readTags(header, 'If-Match')
    .filter(({ weak, value }) => !weak && VERSION.test(value))
    .map(({ value }) => Number(value));
}

/**
 * True if `If-None-Match` contains this tag, compared weakly: the caller's copy is current. Invalid text matches
 * nothing.
 */
export function isCurrent(header: string, tag: string): boolean {
  if (header.trim() === '*') return true;
  return LIST.test(header) && readTags(header, 'If-None-Match').some(({ value }) => `"${value}"` === tag);
}

function readTags(
  header: string,
  name: string,
): readonly { readonly weak: boolean; readonly value: string }[] {
  if (!LIST.test(header))
    throw new HttpProblem('HTTP_MALFORMED_REQUEST', `${name} is not a list of entity tags`);
  return [...header.matchAll(TAG)].map(([, weak, value = '']) => ({ weak: weak !== undefined, value }));
}
