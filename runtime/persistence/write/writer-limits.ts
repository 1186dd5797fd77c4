import { ValidationError } from '../../errors.js';

/** Limits of writing to each shard, in each process. */
export interface WritingLimits {
  /** Maximum plans in the queue. Further ones are refused at once with `ShardBusyError`. Default 10,000. */
  readonly maximumQueued: number;
  /** Maximum statements with new plans in flight. Default 2. */
  readonly maximumInFlight: number;
  /**
   * Number of waiting plans at which another statement is sent while one is in flight. Higher values give fewer and
   * larger statements, which cost less on both sides; lower ones keep the server from waiting. If half of the plans of
   * the last statement are more, their number applies. Default 12.
   */
  readonly overlapFrom: number;
  /**
   * Number of waiting plans at which a statement is sent before the end of the event loop's turn, if none is in flight.
   * The server then executes it while this process performs further actions. If half of the plans of the last two
   * statements are more, their number applies. Default 16.
   */
  readonly aheadFrom: number;
  /** Maximum statements that wait for a locked row, each with one plan or one chain. Default 4. */
  readonly maximumWaiting: number;
  /** Maximum plans in one statement. Default 128. */
  readonly maximumBatch: number;
  /**
   * Maximum characters of all values of one statement. A larger statement is split before it is sent, down to a single
   * plan or chain, which is refused with `ValidationError` if it has four times as many. Default 4 Mi.
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

/** @throws ValidationError for a limit that is not an integer of at least 1 */
export function checkWritingLimits(limits: Partial<WritingLimits>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new ValidationError(`writing.${name} must be an integer of at least 1, got ${value}`, {
      field: name,
    });
  }
}

/** Time that must be left after a wait for a lock to receive its result, in milliseconds. */
export const ANSWER_MS = 100;
