import { NIL } from 'uuid';
import { ValidationError } from '../errors.js';

/**
 * A UUID in its canonical text form: 36 characters, lower case, with hyphens. The compiler accepts any string; writers
 * convert upper case and refuse texts that are not UUIDs.
 */
export type Uuid = string & { readonly [uuidBrand]?: true };
declare const uuidBrand: unique symbol;

/** Each digit is written out, because a quantifier takes the engine twice as long. */
const CANONICAL = new RegExp(`^${[8, 4, 4, 4, 12].map((digits) => '[0-9a-f]'.repeat(digits)).join('-')}$`);

/**
 * Parses the text form: 36 characters with hyphens, in either case. Any version and variant, as in PostgreSQL.
 *
 * @returns the canonical form, in lower case
 * @throws ValidationError otherwise
 */
export function parseUuid(text: string): Uuid {
  const uuid = typeof text === 'string' ? readUuid(text) : undefined;
  if (uuid === undefined) throw new ValidationError(`Not a UUID: ${describe(text)}`);
  return uuid;
}

/**
 * As `parseUuid`, for the value of a field.
 *
 * @throws ValidationError, naming the field
 */
export function canonicalUuid(value: Uuid, field: string): Uuid {
  const uuid = readUuid(String(value));
  if (uuid === undefined) throw new ValidationError(`${field} is not a UUID: ${describe(value)}`, { field });
  return uuid;
}

/** Whether a text is a UUID, in either case. */
export function isUuid(text: string): boolean {
  return readUuid(text) !== undefined;
}

function readUuid(text: string): Uuid | undefined {
  if (CANONICAL.test(text)) return text;
  const lowered = text.toLowerCase();
  return CANONICAL.test(lowered) ? lowered : undefined;
}

/** Creation time of a version 7 UUID in milliseconds since 1970, from its first six bytes. */
export function uuidTimeMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : typeof value;
}

/** The nil UUID: stands for no owner. */
export const NIL_UUID: string = NIL;
