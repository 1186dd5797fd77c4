import { hash } from 'node:crypto';
import { ValidationError } from '../../errors.js';
import type { SortKey, SortOrder } from './sort-order.js';

/** The page of a list that a caller requests. */
export interface PageRequest {
  /** Maximum items, 1..200. Default 50. */
  readonly limit?: number | undefined;
  /** `next` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null;
}

const DEFAULT_PAGE_LIMIT = 50;
export const MAXIMUM_PAGE_LIMIT = 200;

/** @throws ValidationError unless an integer from 1 to 200 */
export function pageLimit(request: PageRequest): number {
  const { limit = DEFAULT_PAGE_LIMIT } = request;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAXIMUM_PAGE_LIMIT) {
    throw new ValidationError(`limit must be an integer from 1 to ${MAXIMUM_PAGE_LIMIT}`, { field: 'limit' });
  }
  return limit;
}

/** Filters that a cursor is bound to. A list refuses a cursor that was issued for other filters. */
export type CursorScope = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Encodes an opaque cursor: the key of the last item, and a digest of the key, the list and its filters. The digest has
 * no secret: it detects accidental changes in every process and after a restart, but not forgery. A cursor grants no
 * access, because the list returns the same models without it.
 */
export function encodeCursor(list: string, scope: CursorScope, lastKey: string): string {
  return Buffer.from(`${digest(list, scope, lastKey)}${lastKey}`).toString('base64url');
}

/**
 * Decodes the key inside a cursor. Undefined for the first page.
 *
 * @param pattern the format of a key
 * @throws ValidationError for a text that `encodeCursor` did not issue for this list
 */
export function decodeCursor(
  cursor: string | undefined,
  list: string,
  scope: CursorScope,
  pattern: RegExp,
): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString();
  const key = text.slice(DIGEST_LENGTH);
  const genuine =
    text.startsWith(digest(list, scope, key)) &&
    pattern.test(key) &&
    Buffer.from(text).toString('base64url') === cursor;
  if (!genuine) throw notGenuine();
  return key;
}

/** Encodes the cursor of a list with several sort columns. */
export function encodeKeyCursor(list: string, scope: CursorScope, key: SortKey): string {
  return encodeCursor(list, scope, JSON.stringify(key));
}

/**
 * Decodes the sort key inside a cursor. Undefined for the first page.
 *
 * @throws ValidationError for a text that `encodeKeyCursor` did not issue for a list of this order
 */
export function decodeKeyCursor(
  cursor: string | undefined,
  list: string,
  scope: CursorScope,
  order: SortOrder,
): SortKey | undefined {
  const text = decodeCursor(cursor, list, scope, KEY_PATTERN);
  if (text === undefined) return undefined;
  const key = parseKey(text);
  if (key === undefined || !order.accepts(key) || JSON.stringify(key) !== text) throw notGenuine();
  return key;
}

const KEY_PATTERN = /^\[.*\]$/s;

function parseKey(text: string): SortKey | undefined {
  try {
    const key: unknown = JSON.parse(text);
    return Array.isArray(key) && key.every((part) => part === null || typeof part === 'string')
      ? key
      : undefined;
  } catch {
    return undefined;
  }
}

function notGenuine(): ValidationError {
  return new ValidationError('cursor was not issued by this list', { field: 'cursor' });
}

const DIGEST_LENGTH = 16;

function digest(list: string, scope: CursorScope, key: string): string {
  const filters = Object.keys(scope)
    .sort()
    .map((name) => [name, scope[name]]);
  return hash('sha256', JSON.stringify([list, filters, key]), 'base64url').slice(0, DIGEST_LENGTH);
}
