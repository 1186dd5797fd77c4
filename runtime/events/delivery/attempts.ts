import type { Transaction } from '../../sharding/transaction-manager.js';
import type { EnvelopeContext } from '../log/event-envelope.js';
import type { LoggedEvent } from '../log/event-record.js';

/** One attempt at one event. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** The transaction that moves the checkpoint, for consumers that write through it. */
  readonly transaction: Transaction | undefined;
}

/** What all attempts of one run have in common. */
export type RunContext = Omit<EnvelopeContext, 'executor'>;

/** What a consumer does with an event, and how often and after which pauses. */
export interface Attempts {
  /** Most events of one model that `handleRun` gets at once. Default 1. */
  readonly longestRun?: number;
  /** What keeps the consumer from working now, for operators. Default: nothing. */
  obstacle?(): string | undefined;
  /** True for an event of a version that this process does not know yet: a newer process has to handle it. */
  isTooNew(event: LoggedEvent): boolean;
  /** One attempt. Returns a promise only if there is something to wait for. */
  handle(event: LoggedEvent, attempt: Attempt, context: RunContext): Promise<void> | void;
  /**
   * Events of one model, in order, each at its first attempt.
   *
   * @throws RunInterrupted if one of them failed
   */
  handleRun?(events: readonly LoggedEvent[], context: RunContext): Promise<void>;
  /** True if a failure does not count as an attempt. */
  isPassing(error: unknown): boolean;
  /** True if an attempt that failed like this was the last one. @param number from 1 */
  isLast(number: number, error: unknown): boolean;
  /** True if the consumer stops at this failure, until an operator resumes it. Default: its event is parked. */
  stopsAt?(error: unknown): boolean;
  /** Pause after failed attempts. */
  pauseMs(failedAttempts: number): number;
  /** Pause after failures in a row that do not count. */
  passingPauseMs(failures: number): number;
}

/** An event of a run failed; those before it are handled, those behind it were not tried. */
export class RunInterrupted extends Error {
  readonly handled: number;

  constructor(handled: number, cause: unknown) {
    super('an event of the run failed', { cause });
    this.name = 'RunInterrupted';
    this.handled = handled;
  }
}
