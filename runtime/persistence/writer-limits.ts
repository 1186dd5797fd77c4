/** Bounds of one shard's writer. */
export interface WriterLimits {
  /** Plans that may wait; beyond, a plan is refused at once as busy. Default 10,000. */
  readonly maximumQueued: number;
  /** Statements with fresh plans on their way at a time. Default 2. */
  readonly maximumInFlight: number;
  /**
   * While a statement is on its way, another one is sent only if so many plans wait: fewer and larger statements cost
   * less on both sides, and over a network a full one need not wait. Default 64.
   */
  readonly overlapFrom: number;
  /** Statements that wait for a locked row at a time: one plan each, or one chain. Default 4. */
  readonly maximumWaiting: number;
  /** Plans in one statement. Default 128. */
  readonly maximumBatch: number;
  /** How long a session waits for a locked row, in milliseconds. Default 400. */
  readonly lockWaitMs: number;
}

export const DEFAULT_WRITER_LIMITS: WriterLimits = Object.freeze({
  maximumQueued: 10_000,
  maximumInFlight: 2,
  overlapFrom: 64,
  maximumWaiting: 4,
  maximumBatch: 128,
  lockWaitMs: 400,
});
