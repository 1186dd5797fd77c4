/** Where the present moment comes from. Instants are kept at millisecond precision. */
export interface Clock {
  /** The present moment. */
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = Object.freeze({ now: () => new Date() });
