import { NIL, validate } from 'uuid';
import { ValidationError } from '../errors.js';

/** A UUID in its canonical text form: 36 characters, lower case, hyphens. */
export type Uuid = string & { readonly [uuidBrand]?: true };
declare const uuidBrand: unique symbol;

/** Parses the canonical text form; upper case is accepted and lowered. @throws ValidationError otherwise */
export function parseUuid(text: string): Uuid {
  if (typeof text !== 'string' || !validate(text)) {
    throw new ValidationError(`Not a UUID: ${describe(text)}`);
  }
  return text.toLowerCase();
}

/** Milliseconds since 1970 that a version 7 UUID was made at: its first six bytes. */
export function uuidTimeMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : typeof value;
}

/** Belongs to nothing. */
export const NIL_UUID: string = NIL;
