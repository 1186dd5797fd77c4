import { ValidationError } from '../../errors.js';
import type { FieldKind, TypeOf } from './field-kind.js';
import { refuse, textOf } from './json-values.js';

const EXAMPLE = '2026-01-31T09:30:00.000Z';
/** Outside of the years 0001 to 9999, ISO 8601 and PostgreSQL write years differently. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** A `Date`; ISO 8601 text in UTC with milliseconds in JSON. */
export const instantKind: FieldKind<TypeOf<'instant'>> = {
  writer: (_, field) => (value) => {
    requireValid(value as Date, field.name);
    return `"${(value as Date).toISOString()}"`;
  },
  reader: (_, field) => (json) => {
    const date = new Date(textOf(json, field.name));
    return Number.isNaN(date.getTime()) ? refuse(field.name, 'an ISO 8601 instant') : date;
  },
  isText: true,
  column: () => ({
    sqlType: 'timestamptz',
    order: 'time',
    text: (field) => (value) => columnText(value as Date, field),
    isStorable: (value) => isStored((value as Date).getTime()),
    keyText: (value) => (value as Date).toISOString(),
  }),
  isValue: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  schema: () => ({ type: 'string', format: 'date-time', examples: [EXAMPLE] }),
  example: () => EXAMPLE,
};

function requireValid(value: Date, field: string): void {
  if (Number.isNaN(value.getTime())) throw new ValidationError(`${field} is not a valid date`, { field });
}

function isStored(milliseconds: number): boolean {
  return milliseconds >= FIRST_MS && milliseconds <= LAST_MS;
}

function columnText(value: Date, field: string): string {
  requireValid(value, field);
  if (!isStored(value.getTime())) {
    throw new ValidationError(`${field} is out of range: years 1 to 9999 are stored`, { field });
  }
  return instantText(value);
}

const INSTANT_SLOTS = 64;
const instantsMs = new Float64Array(INSTANT_SLOTS).fill(Number.NaN);
const instantTexts: string[] = new Array<string>(INSTANT_SLOTS).fill('');

/**
 * An instant as ISO 8601 text in UTC. Formatting is slow, and under load many instants fall into the same few
 * milliseconds, so the last texts are cached.
 */
export function instantText(date: Date): string {
  const milliseconds = date.getTime();
  const slot = Math.abs(milliseconds % INSTANT_SLOTS) || 0;
  if (instantsMs[slot] !== milliseconds) {
    instantTexts[slot] = date.toISOString();
    instantsMs[slot] = milliseconds;
  }
  return instantTexts[slot] ?? '';
}
