import { Refusal } from './refusal.js';

const INSTANT =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;
const NOT_AN_INSTANT = new Refusal('must be a date and time with an offset like "2026-01-31T12:00:00Z"');
const TOO_FINE = new Refusal('must not be more precise than a millisecond');

/** Reads an RFC 3339 date-time exactly: impossible dates, leap seconds and parts of a millisecond are refused. */
export function readInstant(text: string): Date | Refusal {
  const match = INSTANT.exec(text);
  if (match === null) return NOT_AN_INSTANT;
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.map(Number);
  const fraction = match[7] ?? '';
  if (/[1-9]/.test(fraction.slice(3))) return TOO_FINE;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const offset = offsetMinutes(match[8], match[9], match[10]);
  if (hour > 23 || minute > 59 || second > 59 || offset === undefined) return NOT_AN_INSTANT;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  // `Date` moves a day that does not exist into the next month.
  if (year === 0 || local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return NOT_AN_INSTANT;
  local.setUTCHours(hour, minute, second, milliseconds);
  return new Date(local.getTime() - offset * 60_000);
}

function offsetMinutes(sign: string | undefined, hours = '0', minutes = '0'): number | undefined {
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
