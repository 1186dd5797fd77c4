import { ValidationError } from '../errors.js';

/** A day: a longer hold is a state of the application and belongs into a model. */
const LONGEST_HOLD_MS = 24 * 60 * 60 * 1_000;

/** A hold time in whole milliseconds, as the database stores it. @throws ValidationError */
export function wholeHoldMs(holdMs: number): number {
  requireRange('holdMs', holdMs, 1);
  return Math.ceil(holdMs);
}

/** @throws ValidationError */
export function requireRange(field: string, value: number, least: number): void {
  if (value >= least && value <= LONGEST_HOLD_MS) return;
  throw new ValidationError(`${field} must be ${least} to ${LONGEST_HOLD_MS} milliseconds, got ${value}`, {
    field,
  });
}
