import type { DeadLetterStore } from '../dead-letters/dead-letter-store.js';
import type { LogReader, LogSelection } from '../log/log-reader.js';
import type { Attempts, RunContext } from './attempts.js';
import type { ConsumerStore, LeasedConsumer } from './consumer-store.js';
import type { HeldLease } from './held-lease.js';

/** What a run works with. */
export interface ConsumerRunOptions {
  readonly consumer: LeasedConsumer;
  readonly lease: HeldLease;
  readonly attempts: Attempts;
  readonly selection: LogSelection;
  readonly concurrency: number;
  readonly context: Omit<RunContext, 'signal'>;
  readonly reader: LogReader;
  readonly consumers: ConsumerStore;
  readonly letters: DeadLetterStore;
  /** Milliseconds until the log is read again without a notification. */
  readonly pollMs: () => number;
  readonly warn: (message: string) => void;
}

/** Why a run has ended. */
export type RunEnd =
  | { readonly kind: 'stopped' }
  /** Another process has the lease, or may have it. */
  | { readonly kind: 'lost' }
  /** The memory of this run no longer matches the database: it must restart from the database. */
  | {
      readonly kind: 'superseded';
      /** Ids of the events that it has handled last, with effects of their own. */
      readonly handled?: readonly string[];
    }
  /** This process cannot continue; another one may. */
  | { readonly kind: 'waiting'; readonly reason: string }
  /** The consumer stops until an operator resumes it. */
  | { readonly kind: 'halted'; readonly reason: string }
  /** A replay has come to its end. */
  | { readonly kind: 'finished' };

/** A run of one consumer under one lease. */
export interface Run {
  /** Settles when the run has ended by itself or was stopped. Never rejects. */
  readonly ended: Promise<RunEnd>;
  /** There may be something to read. */
  wake(): void;
  /** The server is another one, or was started again: what is in memory may not fit it. The run ends `superseded`. */
  supersede(): void;
  /** Lets handlers that are at work finish, for `graceMs` at most, and saves how far they have come. */
  stop(graceMs: number): Promise<void>;
}
