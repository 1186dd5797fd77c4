import type { Clock } from '../domain/clock.js';
import { ValidationError } from '../errors.js';

/** The default time of a virtual clock. */
const DEFAULT_START = '2025-01-01T00:00:00.000Z';

/** A clock that moves only when `set` or `advance` is called. */
export class VirtualClock implements Clock {
  #nowMs: number;

  /** @param start the initial time; default 2025-01-01T00:00:00Z @throws ValidationError for an invalid date */
  constructor(start: Date | string = DEFAULT_START) {
    this.#nowMs = milliseconds(start);
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  /** Moves by this many milliseconds; negative values move it backwards, as real clocks may. */
  advance(byMs: number): this {
    this.#nowMs = milliseconds(new Date(this.#nowMs + byMs));
    return this;
  }

  /** Sets the time. @throws ValidationError for an invalid date */
  set(moment: Date | string): this {
    this.#nowMs = milliseconds(moment);
    return this;
  }
}

function milliseconds(moment: Date | string): number {
  const result = new Date(moment).getTime();
  if (Number.isNaN(result)) throw new ValidationError(`Not a valid date: ${String(moment)}`);
  return result;
}
