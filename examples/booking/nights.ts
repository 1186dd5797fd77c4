import { ValidationError } from 'fw-actions';

const DAY_MS = 86_400_000;

/**
 * Returns the dates of consecutive nights, starting with `first`: `2026-05-01`.
 * @throws ValidationError for a day that does not exist
 */
export function nightsFrom(first: string, count: number): readonly string[] {
  const startMs = Date.parse(`${first}T00:00:00Z`);
  if (Number.isNaN(startMs) || dayOf(startMs) !== first) {
    throw new ValidationError(`${first} is not a day such as 2026-05-01`, { field: 'from' });
  }
  return Array.from({ length: count }, (_, index) => dayOf(startMs + index * DAY_MS));
}

/** The date of the night after the one that begins on the day of `time` (UTC). */
export function nightAfter(time: Date): string {
  return dayOf(time.getTime() + DAY_MS);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
