import type { Attempt, RunContext } from '../log/event-envelope.js';
import type { LoggedEvent } from '../log/event-record.js';

/** Failures of one event. */
export interface FailureCount {
  attempts: number;
  /** Consecutive failures that do not count as attempts. */
  passed: number;
}

/** What becomes of an event after a failed attempt. Pauses are in milliseconds. */
export type Verdict =
  /** It is attempted again, and the failure counts. */
  | { readonly kind: 'retry'; readonly pauseMs: number }
  /** It is attempted again, and the failure does not count. */
  | {
      readonly kind: 'pass';
      readonly pauseMs: number;
      /**
       * `receiver`: it is down. `elsewhere`: something that other events may not need is out of reach, such as the
       * database of another shard.
       */
      readonly cause: 'receiver' | 'elsewhere';
    }
  | { readonly kind: 'park' }
  /** The consumer halts until an operator resumes it. */
  | { readonly kind: 'halt' };

/** As `Verdict`. `leave`: only a process of another release can handle the event. */
export type Outcome = Verdict | { readonly kind: 'leave'; readonly reason: string };

/** How a consumer handles events and retries failures. */
export interface Attempts {
  /** Maximum events of one model that `handleRun` receives at once. Default 1. */
  readonly longestRun?: number;
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
  /** What becomes of the event after a failed attempt. @param before the failures before this one */
  judge(error: unknown, before: FailureCount): Verdict;
  /** Called after a failed attempt that counts and is not the last one. @param attempt its number, from 1 */
  retrying?(eventId: string, attempt: number, error: unknown): void;
}

/**
 * Only a process of another release can handle the event. It counts as no attempt: the run leaves the rest of the model,
 * finishes its other models, and releases its lease.
 */
export class OtherReleaseNeeded extends Error {
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
