import { ValidationError } from '../../errors.js';

/** What an application may set of the writing of each shard, in each process. */
export interface WritingLimits {
  /** Plans that may wait; beyond, a plan is refused at once as busy. Default 10,000. */
  readonly maximumQueued: number;
  /** Statements with fresh plans on their way at a time. Default 2. */
  readonly maximumInFlight: number;
  /**
   * While a statement is on its way, another one is sent behind it once this number of plans wait, so that the server
   * need not wait for them: fewer and larger statements cost less on both sides. It takes half of what the last
   * statement carried, if that is more. Default 12.
   */
  readonly overlapFrom: number;
  /**
   * While nothing is on its way, this number of plans is sent before the turn of the event loop that brings more of
   * them is over: the server works on them while the others are still being performed, and from then on the two halves
   * take turns. It takes half of what the last two statements carried, if that is more. Default 16.
   */
  readonly aheadFrom: number;
  /** Statements that wait for a locked row at a time: one plan each, or one chain. Default 4. */
  readonly maximumWaiting: number;
  /** Plans in one statement. Default 128. */
  readonly maximumBatch: number;
  /**
   * Characters of all values of one statement. What is larger is split before it is sent, until a plan, or a chain, is
   * alone. Default 4 Mi.
   */
  readonly maximumCharacters: number;
}

/** Bounds of one shard's writer. */
export interface WriterLimits extends WritingLimits {
  /** How long a session waits for a locked row, in milliseconds. Default 400. */
  readonly lockWaitMs: number;
}

export const DEFAULT_WRITER_LIMITS: WriterLimits = Object.freeze({
  maximumQueued: 10_000,
  maximumInFlight: 2,
  overlapFrom: 12,
  aheadFrom: 16,
  maximumWaiting: 4,
  maximumBatch: 128,
  maximumCharacters: 4 * 1_024 * 1_024,
  lockWaitMs: 400,
});

/** @throws ValidationError for a limit that is no whole number from 1 on */
export function checkWritingLimits(limits: Partial<WritingLimits>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new ValidationError(`writing.${name} must be an integer of at least 1, got ${value}`, {
      field: name,
    });
  }
}
