import type { Clock } from '../domain/clock.js';
import { ValidationError } from '../errors.js';

/** The default time of a virtual clock. */
const DEFAULT_START = '2025-01-01T00:00:00.000Z';

/** A clock that moves only when `set` or `advance` is called. */
export class VirtualClock implements Clock {
  #nowMs: number;

  /** @param start the first moment; default 2025-01-01T00:00:00Z @throws ValidationError if it is no valid date */
  constructor(start: Date | string = DEFAULT_START) {
    this.#nowMs = milliseconds(start);
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  /** Moves by this many milliseconds; backwards if negative, as real clocks do at times. */
  advance(byMs: number): this {
    this.#nowMs = milliseconds(new Date(this.#nowMs + byMs));
    return this;
  }

  /** Moves to this moment. @throws ValidationError if it is no valid date */
  set(moment: Date | string): this {
    this.#nowMs = milliseconds(moment);
    return this;
  }
}

function milliseconds(moment: Date | string): number {
  const result = new Date(moment).getTime();
  if (Number.isNaN(result)) throw new ValidationError(`Not a valid moment: ${String(moment)}`);
  return result;
}
