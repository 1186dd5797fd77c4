/** Source of the current time. Dates have millisecond precision. */
export interface Clock {
  /** The current time. */
  now(): Date;
}

/** The system clock. */
export const systemClock: Clock = Object.freeze({ now: () => new Date() });
