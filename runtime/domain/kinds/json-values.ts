import { ValidationError } from '../../errors.js';
import type { JsonValue } from '../json.js';

/** @throws ValidationError, naming the field */
export function refuse(name: string, expected: string): never {
  throw new ValidationError(`${name} must be ${expected}`, { field: name });
}

/** @throws ValidationError, naming the field, for any other JSON */
export function textOf(json: JsonValue, name: string): string {
  return typeof json === 'string' ? json : refuse(name, 'a string');
}

/** @throws ValidationError, naming the field, for any other JSON */
export function listOf(json: JsonValue, name: string): readonly JsonValue[] {
  return Array.isArray(json) ? json : refuse(name, 'a list');
}

/** @throws ValidationError for any other JSON */
export function objectOf(json: JsonValue): Readonly<Record<string, JsonValue>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ValidationError('A JSON object was expected');
  }
  return json as Readonly<Record<string, JsonValue>>;
}

/** Reads text with a parser that throws. @throws ValidationError, naming the field */
export function parsed<T>(name: string, expected: string, read: () => T): T {
  try {
    return read();
  } catch {
    return refuse(name, expected);
  }
}

/** @throws ValidationError, naming the field, for NaN and infinities */
export function finiteText(value: unknown, name: string): string {
  if (!Number.isFinite(value)) throw new ValidationError(`${name} must be a finite number`, { field: name });
  return String(value);
}

/** Text that JSON does not escape. */
const PLAIN = /^[\w-]*$/;

/**
 * Quotes text that is nearly always plain. Checks it anyway: the compiler accepts any string as a currency, and this
 * text is sent in one array with the params and payloads of other plans.
 */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
