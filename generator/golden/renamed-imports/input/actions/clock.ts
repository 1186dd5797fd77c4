/** Not the clock of the package. */
export interface Clock {
  tick(): void;
}
