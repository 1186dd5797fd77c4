import type { Transaction } from '../../sharding/transaction-manager.js';
import type { EnvelopeContext } from '../log/event-envelope.js';
import type { LoggedEvent } from '../log/event-record.js';

/** One attempt at one event. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** The transaction that moves the checkpoint, for transactional consumers. */
  readonly transaction: Transaction | undefined;
}

/** The envelope context that all attempts of one run share. */
export type RunContext = EnvelopeContext;

/** How a consumer handles events and retries failures. */
export interface Attempts {
  /** Maximum events of one model that `handleRun` receives at once. Default 1. */
  readonly longestRun?: number;
  /** What currently prevents the consumer from working, for operators. Undefined: nothing. */
  obstacle?(): string | undefined;
  /** True for an event of a version that this process does not know yet; a newer process must handle it. */
  isTooNew(event: LoggedEvent): boolean;
  /** Makes one attempt. Returns a promise only if the attempt is asynchronous. */
  handle(event: LoggedEvent, attempt: Attempt, context: RunContext): Promise<void> | void;
  /**
   * Handles events of one model in order, each at its first attempt.
   *
   * @throws RunInterrupted if one of them failed
   */
  handleRun?(events: readonly LoggedEvent[], context: RunContext): Promise<void>;
  /** True if a failure does not count as an attempt. */
  isPassing(error: unknown): boolean;
  /** True if a failure that does not count means that the receiver is down. Default: it never does. */
  isReceiverDown?(error: unknown): boolean;
  /**
   * True if a failure that does not count is due to something that other events may not need, such as the database of
   * another shard. Default: all events wait for the receiver.
   */
  isElsewhere?(error: unknown): boolean;
  /** True if an attempt that failed with this error was the last one. @param number from 1 */
  isLast(number: number, error: unknown): boolean;
  /** True if this failure halts the consumer until an operator resumes it. Default: the event is parked. */
  stopsAt?(error: unknown): boolean;
  /** Pause after this number of failed attempts, in milliseconds. */
  pauseMs(failedAttempts: number): number;
  /** Pause after this number of consecutive failures that do not count, in milliseconds. @param error the last one */
  passingPauseMs(failures: number, error: unknown): number;
}

/**
 * Only a process of another release can handle the event. It counts as no attempt: the run leaves the rest of the model,
 * finishes its other models, and releases its lease.
 */
export class OtherReleaseNeeded extends Error {
  /** @param reason for operators */
  constructor(reason: string) {
    super(reason);
    this.name = 'OtherReleaseNeeded';
  }
}

/** An event of a run failed. Those before it are handled, those after it were not tried. */
export class RunInterrupted extends Error {
  readonly handled: number;

  constructor(handled: number, cause: unknown) {
    super('an event of the run failed', { cause });
    this.name = 'RunInterrupted';
    this.handled = handled;
  }
}
